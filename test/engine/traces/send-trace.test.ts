import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import type { RecordedStep } from '../../../lib/core/step.ts'
import { traceSender } from '../../../lib/engine/traces/send-trace.ts'
import { modelStep, toolCall } from '../../support/engine/executions.ts'
import { listen } from '../../tools/serve.ts'
import { aRun, modelJournal, SECRET } from './a-journal.ts'
import { readProtobuf } from './read-protobuf.ts'

/** A receiver, and what sends to it from a journal that has two steps a page. */
async function aReceiver({
  journal = modelJournal(),
  respond = (response: ServerResponse) => void response.end(),
  environment = {},
}: {
  journal?: RecordedStep[]
  respond?: (response: ServerResponse) => void
  environment?: Record<string, string>
} = {}) {
  const received: { path: string | undefined; headers: IncomingHttpHeaders; bytes: Buffer; body: string }[] =
    []
  const { host } = await listen(async (request, response) => {
    const bytes = await buffer(request)
    const { url: path, headers } = request
    received.push({ path, headers, bytes, body: bytes.toString() })
    respond(response)
  })
  const steps = {
    async list({ after }: { after: unknown }) {
      const from = Number(after ?? 0)
      const next = from + 2 < journal.length ? String(from + 2) : null
      return { items: journal.slice(from, from + 2), next: next as never }
    },
  }
  const agents = { getVersion: async () => ({ slug: 'shop' }) as never }
  const send = traceSender({ steps, agents }, { OTLP_ENDPOINT: `http://${host}/base/`, ...environment })
  return { received, send }
}

const MALFORMED = /^The secret KEYS \(otlpHeaders\) must be name=value, separated by commas\.$/

describe('traceSender', () => {
  it('sends the trace as protobuf', async () => {
    const { received, send } = await aReceiver()
    const run = aRun()
    expect(await send(run)).toEqual({ ok: true, responseStatus: 200, error: null, isGone: false })
    const [first] = received
    expect(first?.path).toBe('/base/v1/traces')
    expect(first?.headers['content-type']).toBe('application/x-protobuf')
    const { resource, spans } = readProtobuf(first?.bytes as Buffer)
    expect(resource).toEqual({ 'service.name': 'agent-execution-service' })
    expect(spans.map(({ name }) => name)).toContain('execute_tool refund')
    const [root] = spans
    for (const span of spans.slice(1)) expect(span.parentSpanId).toBe(root?.spanId)
    expect(spans[1]?.attributes['gen_ai.usage.input_tokens']).toBe(30)
    expect(spans[1]?.attributes['agent_execution.cost_usd']).toBe(0.25)
    expect(spans.find(({ name }) => name === 'execute_tool refund')?.status).toEqual({ code: 2, message: '' })
    expect(root?.end).toBe(BigInt(Date.parse(run.finishedAt ?? '')) * 1_000_000n)
    expect(first?.bytes.toString('latin1')).not.toContain(SECRET)
  })

  it('sends the same bytes again', async () => {
    const { received, send } = await aReceiver({ environment: { OTLP_PROTOCOL: 'http/json' } })
    const run = aRun()
    await send(run)
    await send(run)
    expect(received[0]?.headers['content-type']).toBe('application/json')
    expect(received[0]?.body).toBe(received[1]?.body)
    expect(JSON.parse(received[0]?.body ?? '').resourceSpans[0].scopeSpans[0].spans[0]).toMatchObject({
      traceId: run.id.replaceAll('-', ''),
      name: 'invoke_agent shop',
      kind: 1,
    })
  })

  it.each(['http/protobuf', 'http/json'])(
    'splits a run of 500 steps into requests below 4 MB (%s)',
    async (protocol) => {
      const long = 'ä"'.repeat(3_000)
      const journal = Array.from({ length: 500 }, (_, index): RecordedStep => {
        const calls = [toolCall(`c${index}`, 'look_up', { long })]
        const step = modelStep({ number: index + 1, model: 'openai/gpt-5', text: long, calls })
        const { startedAt, finishedAt } = step
        const result = {
          callId: `c${index}`,
          result: { ok: true as const, value: long },
          startedAt,
          finishedAt,
        }
        return { step, results: new Map([[result.callId, result]]) }
      })
      const environment = { OTLP_PROTOCOL: protocol, OTLP_CONTENT: 'on' }
      const { received, send } = await aReceiver({ journal, environment })
      expect(await send(aRun())).toMatchObject({ ok: true })
      const sizes = received.map(({ bytes }) => bytes.length)
      expect(sizes.length).toBeGreaterThan(1)
      expect(Math.max(...sizes)).toBeLessThan(4_000_000)
    },
  )

  it('sends the headers of the secret, and names it in errors without its value', async () => {
    const headers = 'Authorization=Basic%20YTpi, x-team = a'
    const { received, send } = await aReceiver({ environment: { OTLP_HEADERS: 'KEYS', KEYS: headers } })
    await send(aRun())
    expect(received[0]?.headers).toMatchObject({ authorization: 'Basic YTpi', 'x-team': 'a' })
    for (const [text, error] of [
      ['', /^The secret KEYS \(otlpHeaders\) does not exist\.$/],
      ['hunter2', MALFORMED],
      ['a=%zz', MALFORMED],
      ['a=hunter2%0d%0ac', MALFORMED],
      // A token without a name before it.
      ['Bearer hunter2==', MALFORMED],
    ] as const) {
      const other = await aReceiver({ environment: { OTLP_HEADERS: 'KEYS', KEYS: text } })
      const result = await other.send(aRun())
      expect(result).toMatchObject({ ok: false, isGone: false, error: expect.stringMatching(error) })
      expect(other.received).toEqual([])
    }
  })

  it('gives up what the receiver rejects, and nothing else', async () => {
    const answered = async (status: number, body = '') => {
      const { send } = await aReceiver({
        environment: { OTLP_PROTOCOL: 'http/json' },
        respond: (response) => void response.writeHead(status).end(body),
      })
      return send(aRun())
    }
    expect(await answered(400)).toMatchObject({ ok: false, isGone: true })
    for (const status of [401, 404, 410, 429, 503])
      expect(await answered(status)).toMatchObject({ ok: false, isGone: false, responseStatus: status })
    expect(await answered(200, '{"partialSuccess":{"rejectedSpans":"2"}}')).toMatchObject({
      ok: false,
      isGone: true,
      error: 'The receiver rejected 2 spans.',
    })
    expect(await answered(200, '{"partialSuccess":{}}')).toMatchObject({ ok: true })
    expect(await answered(200, '<html>')).toMatchObject({ ok: true })
  })
})
