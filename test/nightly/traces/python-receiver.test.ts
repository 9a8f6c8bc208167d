import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { traceSender } from '../../../lib/engine/traces/send-trace.ts'
import { aRun, codeJournal, modelJournal, SECRET } from '../../engine/traces/a-journal.ts'
import { hasPython } from '../../support/processes/python-environment.ts'
import { pythonOfTests } from '../../support/processes/python-of-tests.ts'

const SCRIPT = fileURLToPath(new URL('python/decode.py', import.meta.url))

/** The bodies of these deliveries of a run, in base64. */
async function bodiesOf({ run = aRun(), journal = modelJournal(), deliveries = 1, environment = {} }) {
  const bodies: string[] = []
  const steps = { list: async () => ({ items: journal, next: null }) }
  const agents = { getVersion: async () => ({ slug: 'shop' }) as never }
  const send = traceSender(
    { steps, agents },
    { OTLP_ENDPOINT: 'https://collector.example', ...environment },
    async ({ body }) => {
      bodies.push(Buffer.from(body).toString('base64'))
      return { ok: true, responseStatus: 200, error: null, isGone: false }
    },
  )
  for (let i = 0; i < deliveries; i++) expect(await send(run)).toMatchObject({ ok: true })
  return bodies
}

// The public package is installed with pip.
describe.skipIf(!(await hasPython()))('a receiver made with the public Python package', () => {
  const python = pythonOfTests(new URL('python/requirements.txt', import.meta.url))

  function decode(bodies: string[]) {
    const { stdout, stderr } = spawnSync(python(), [SCRIPT], { input: bodies.join('\n'), encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(stdout).not.toContain('\n\n')
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  }

  it('decodes a run and its spans, without content', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const run = aRun({ traceparent })
    const [{ resource, scopes, spans }] = decode(await bodiesOf({ run }))
    expect(resource).toEqual({ 'service.name': 'agent-execution-service' })
    expect(scopes).toEqual([['agent-execution-service', 'gen-ai-0.1.0']])
    const [root, chat, ...others] = spans
    expect(root).toMatchObject({
      ...{ name: 'invoke_agent shop', kind: 1, status: [0, ''], flags: 0x301 },
      ...{ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', parentSpanId: '00f067aa0ba902b7' },
      spanId: run.id.replaceAll('-', '').slice(16),
      ms: [Date.parse(run.createdAt), Date.parse(run.finishedAt ?? '')],
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'shop' },
    })
    expect(chat).toMatchObject({
      ...{ name: 'chat amazon.nova-lite-v1:0', kind: 3, flags: 0x101 },
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'aws.bedrock',
        'gen_ai.request.model': 'amazon.nova-lite-v1:0',
        'gen_ai.response.finish_reasons': ['tool-calls'],
        'gen_ai.usage.input_tokens': 30,
        'agent_execution.cost_usd': 0.25,
      },
    })
    expect(others.find(({ name }: { name: string }) => name === 'execute_tool refund')).toMatchObject({
      status: [2, ''],
      attributes: { 'gen_ai.tool.name': 'refund', 'error.type': 'ToolError' },
    })
    for (const { parentSpanId, traceId } of [chat, ...others])
      expect([parentSpanId, traceId]).toEqual([root.spanId, root.traceId])
    expect(JSON.stringify(spans)).not.toContain(SECRET)
  })

  it('decodes the same of a repeated delivery, and content if it is wanted', async () => {
    const environment = { OTLP_CONTENT: 'on' }
    const [first, second] = decode(
      await bodiesOf({ journal: [...modelJournal(), ...codeJournal()], deliveries: 2, environment }),
    )
    expect(second).toEqual(first)
    expect(JSON.parse(first.spans[0].attributes['gen_ai.input.messages'])).toEqual([
      { role: 'user', parts: [{ type: 'text', content: JSON.stringify({ text: SECRET }) }] },
    ])
  })
})
