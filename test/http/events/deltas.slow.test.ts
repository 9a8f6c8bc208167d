import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { system } from '../../../lib/system.ts'
import { modernRequest, parseMessages } from '../../mcp/messages.ts'
import { collect } from '../../support/data/collect.ts'
import { finalAnswer } from '../../support/engine/model-agent.ts'
import { startScriptedModel } from '../../support/scripted-model/start-scripted-model.ts'
import type { Script } from '../../support/scripted-model/turn.ts'
import { createLocalClient, readDevToken } from '../../support/service/client.ts'
import { openEventStream, type SentEvent } from '../../support/service/event-stream.ts'
import { temporaryServices } from '../../support/service/temporary-services.ts'

const services = temporaryServices()
const folder = services.newFolder()
const AGENT = '/v1/agents/triage-'
const INPUT = { subject: 'Help', body: 'I cannot log in.' }
const OUTPUT = { priority: 'high', team: 'accounts', summary: 'Cannot log in.', knownIncident: false }
const scripted = await startScriptedModel()
const service = await services.start(folder, {
  ...(scripted.environmentFor() as Record<string, string>),
  DYNAMODB_ENDPOINT: inject('dynamodb'),
})
const call = createLocalClient(service.url, folder)

beforeAll(async () => {
  const text = readFileSync(new URL('../../../agents/triage-ticket/agent.md', import.meta.url), 'utf8')
  for (const provider of ['openai', 'openai-compatible']) {
    const document = text.replace('---\n', `---\nslug: triage-${provider}\nmodel: ${provider}/own\n`)
    expect([200, 201]).toContain((await call('POST', '/v1/agents', { body: { document } })).status)
  }
})
afterAll(() => scripted.stop())

async function run(script: Script, provider: 'openai' | 'openai-compatible', query: string) {
  const name = system.newId()
  scripted.script(name, script)
  const model = encodeURIComponent(scripted.modelFor(provider, name))
  const url = `${service.url}${AGENT}${provider}/executions?model=${model}&${query}`
  const { response, events } = await openEventStream(url, { token: readDevToken(folder), body: INPUT })
  expect(response.status).toBe(200)
  return { id: response.headers.get('X-Execution-Id'), events }
}

/** The arguments of calls, by step and try; those that a reset made void are gone. */
function argumentsOf(events: SentEvent[]): Record<string, string> {
  const texts: Record<string, string> = {}
  for (const { event, data } of events) {
    const key = `${data?.step}/${data?.try}`
    if (event === 'reset') delete texts[key]
    if (event === 'delta' && data.toolCall) texts[key] = (texts[key] ?? '') + data.toolCall.arguments
  }
  return texts
}

const kindsOf = (events: SentEvent[]) => events.map(({ event }) => event)

describe('deltas', () => {
  it.each(['openai', 'openai-compatible'] as const)(
    'of %s arrive before the step that they belong to, and have the output',
    async (provider) => {
      const script: Script = [{ calls: [finalAnswer(OUTPUT)], pause: { ms: 200 } }]
      const all = await collect((await run(script, provider, 'deltas=true')).events)
      const kinds = kindsOf(all)
      expect(kinds.indexOf('delta')).toBeGreaterThan(0)
      expect(kinds.lastIndexOf('delta')).toBeLessThan(kinds.indexOf('step'))
      expect(kinds).not.toContain('reset')
      expect(all.filter(({ event }) => event === 'delta').every(({ id }) => id === undefined)).toBe(true)
      // OpenAI enforces a schema in which the optional fields are null.
      expect(JSON.parse(argumentsOf(all)['1/1'] ?? '')).toEqual(OUTPUT)
      expect(all.find(({ event }) => event === 'done')?.data.output).toEqual(OUTPUT)
    },
  )

  it('of a run in another process reach who started it, and a second reader', async () => {
    const script: Script = [{ calls: [finalAnswer(OUTPUT)], pause: { ms: 1_500 } }]
    const { id, events } = await run(script, 'openai-compatible', 'deltas=true&execMode=async')
    const url = `${service.url}/v1/agent_executions/${id}/events`
    const token = readDevToken(folder)
    const other = await openEventStream(`${url}?deltas=true`, { token })
    const plain = await openEventStream(url, { token })
    const streams = [events, other.events, plain.events]
    const [first = [], second = [], third = []] = await Promise.all(streams.map(collect))
    for (const all of [first, second]) {
      expect(kindsOf(all)).toContain('delta')
      for (const text of Object.values(argumentsOf(all)))
        expect(JSON.stringify(OUTPUT).startsWith(text)).toBe(true)
      expect(all.find(({ event }) => event === 'done')?.data.output).toEqual(OUTPUT)
    }
    expect(kindsOf(third)).not.toContain('delta')
  })

  it('are progress for an MCP client that asks for it', async () => {
    scripted.script('own', [{ calls: [finalAnswer(OUTPUT)], pause: { ms: 1_500, chunk: -1 } }])
    const params = { name: 'triage-openai-compatible', arguments: INPUT, _meta: { progressToken: 'p' } }
    const { text } = await call('POST', '/v1/mcp', modernRequest('tools/call', params))
    const progress = parseMessages(text).filter(({ method }) => method === 'notifications/progress')
    const [written, ...rest] = progress.map(({ params: { progress, message } }) => [progress, message])
    expect(written).toEqual([0.5, expect.stringMatching(/^Writes final_answer: \d+ characters$/)])
    expect(rest.at(-1)).toEqual([1, 'Calls final_answer'])
    expect(parseMessages(text).at(-1).result.structuredContent).toEqual(OUTPUT)
  })

  it('need an event stream, and are not accepted in batches', async () => {
    for (const [path, body] of Object.entries({ executions: INPUT, batches: [{ input: INPUT }] })) {
      const { status, json } = await call('POST', `${AGENT}openai/${path}?deltas=true`, { body })
      expect([status, json.code]).toEqual([400, 'InvalidQueryParameter'])
    }
  })
})
