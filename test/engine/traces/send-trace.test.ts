import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { RecordedStep, StepStore } from '../../../lib/core/step.ts'
import { traceSender } from '../../../lib/engine/traces/send-trace.ts'
import { modelStep, toolCall } from '../../support/engine/executions.ts'
import { listen } from '../../tools/serve.ts'
import { aRun, codeJournal, modelJournal, recorded, resultOf, SECRET } from './a-journal.ts'

/** A journal in pages of this many steps. */
const stepsOf = (journal: RecordedStep[], pageSize = 500): Pick<StepStore, 'list'> => ({
  async list({ after }) {
    const from = Number(after?.order ?? 0)
    const end = from + pageSize
    return { items: journal.slice(from, end), next: end < journal.length ? { order: String(end) } : null }
  },
})

const agents = { getVersion: async () => ({ slug: 'shop' }) as never }

/** A receiver, and what sends to it. */
async function aReceiver({
  steps = stepsOf(modelJournal()),
  respond = (response: ServerResponse) => void response.end(),
  environment = {},
}: {
  steps?: Pick<StepStore, 'list'>
  respond?: (response: ServerResponse, requests: number) => void
  environment?: Record<string, string>
} = {}) {
  const received: { path: string | undefined; headers: IncomingHttpHeaders; bytes: Buffer }[] = []
  const { host } = await listen(async (request, response) => {
    const bytes = await buffer(request)
    const { url: path, headers } = request
    respond(response, received.push({ path, headers, bytes }))
  })
  const send = traceSender({ steps, agents }, { OTLP_ENDPOINT: `http://${host}/base/`, ...environment })
  const spans = () =>
    received.flatMap(({ bytes }) => JSON.parse(bytes.toString()).resourceSpans[0].scopeSpans[0].spans)
  return { received, send, spans }
}

const JSON_PROTOCOL = { OTLP_PROTOCOL: 'http/json' }
const bytesOf = (...bytes: number[]) => Buffer.from(bytes)

const MALFORMED = /^The secret KEYS \(otlpHeaders\) must be name=value, separated by commas\.$/

describe('traceSender', () => {
  it('sends protobuf to the path below the base URL', async () => {
    const { received, send } = await aReceiver()
    expect(await send(aRun())).toEqual({ ok: true, responseStatus: 200, error: null, isGone: false })
    expect(received).toHaveLength(1)
    const { path, headers, bytes } = received[0] as (typeof received)[0]
    expect(path).toBe('/base/v1/traces')
    expect(headers['content-type']).toBe('application/x-protobuf')
    // What it contains is decoded in test/nightly/traces.
    expect(bytes.toString('latin1')).toContain('execute_tool refund')
    expect(bytes.toString('latin1')).not.toContain(SECRET)
  })

  it('sends JSON, in which the parent of each span is that of the run', async () => {
    const steps = stepsOf([...modelJournal(), ...codeJournal()], 2)
    const { received, send, spans } = await aReceiver({ steps, environment: JSON_PROTOCOL })
    const run = aRun()
    await send(run)
    expect(received.map(({ headers }) => headers['content-type'])).toEqual(Array(3).fill('application/json'))
    const [root, ...others] = spans()
    expect(root).toMatchObject({
      ...{ name: 'invoke_agent shop', kind: 1, traceId: run.id.replaceAll('-', '') },
      endTimeUnixNano: String(BigInt(Date.parse(run.finishedAt ?? '')) * 1_000_000n),
    })
    expect(root).not.toHaveProperty('parentSpanId')
    for (const { traceId, parentSpanId } of others)
      expect([traceId, parentSpanId]).toEqual([root.traceId, root.spanId])
    expect(new Set(spans().map(({ spanId }) => spanId)).size).toBe(10)
  })

  it('sends the same bytes again', async () => {
    const { received, send } = await aReceiver()
    const run = aRun()
    await send(run)
    await send(run)
    expect(received[0]?.bytes).toEqual(received[1]?.bytes)
  })

  describe.each(['http/protobuf', 'http/json'])('with %s', (OTLP_PROTOCOL) => {
    const aLongRun = (text: string) =>
      Array.from({ length: 500 }, (_, index): RecordedStep => {
        const id = `c${index}`
        const calls = [toolCall(id, 'look_up', { text })]
        const step = modelStep({ number: index + 1, model: 'openai/gpt-5', text, calls })
        return recorded(step, resultOf(id, { ok: true, value: text }, 0, 1))
      })

    it('sends a run of 500 steps in one request', async () => {
      const steps = stepsOf(aLongRun('Well?'))
      const { received, send } = await aReceiver({ steps, environment: { OTLP_PROTOCOL } })
      expect(await send(aRun())).toMatchObject({ ok: true })
      expect(received).toHaveLength(1)
      expect(received[0]?.bytes.length).toBeLessThan(1_000_000)
    })

    it('sends several, below 4 MB and with each span once, if the steps are large', async () => {
      const steps = stepsOf(aLongRun('ä"'.repeat(3_000)))
      const environment = { OTLP_PROTOCOL, OTLP_CONTENT: 'on' }
      const { received, send } = await aReceiver({ steps, environment })
      expect(await send(aRun())).toMatchObject({ ok: true })
      expect(received.length).toBeGreaterThan(1)
      expect(Math.max(...received.map(({ bytes }) => bytes.length))).toBeLessThan(4_000_000)
      const all = received.map(({ bytes }) => bytes.toString('latin1')).join()
      expect(all.split('invoke_agent shop')).toHaveLength(2)
      expect(all.split('execute_tool look_up')).toHaveLength(501)
      expect(all.split('chat gpt-5')).toHaveLength(501)
    })
  })

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

  it.each([401, 404, 410, 413, 429, 500, 503])('is repeated after %i', async (status) => {
    const { received, send } = await aReceiver({
      steps: stepsOf(codeJournal(), 2),
      respond: (response) => void response.writeHead(status).end(SECRET),
    })
    const error = `The receiver answered ${status}.`
    expect(await send(aRun())).toEqual({ ok: false, isGone: false, responseStatus: status, error })
    expect(received).toHaveLength(1)
  })

  it('is lost after 400, although the receiver gets the other requests', async () => {
    const { received, send } = await aReceiver({
      steps: stepsOf(codeJournal(), 2),
      respond: (response, requests) => void response.writeHead(requests === 1 ? 400 : 200).end(),
    })
    expect(await send(aRun())).toMatchObject({ ok: false, isGone: true, responseStatus: 400 })
    expect(received).toHaveLength(3)
  })

  it.each([
    // The field rejected_spans of the field partial_success.
    ['http/protobuf', bytesOf(10, 2, 8, 2), bytesOf(10, 9, 18, 7, ...Buffer.from('warning')), bytesOf(10)],
    ['http/json', '{"partialSuccess":{"rejectedSpans":"2"}}', '{"partialSuccess":{}}', '<html>'],
  ])('is lost if the receiver rejects spans (%s)', async (OTLP_PROTOCOL, rejected, accepted, unknown) => {
    const answered = async (body: string | Buffer) => {
      const environment = { OTLP_PROTOCOL }
      const { send } = await aReceiver({ environment, respond: (response) => void response.end(body) })
      return send(aRun())
    }
    const error = 'The receiver rejected 2 spans.'
    expect(await answered(rejected)).toEqual({ ok: false, isGone: true, responseStatus: 200, error })
    for (const body of [accepted, unknown, '']) expect(await answered(body)).toMatchObject({ ok: true })
  })

  it('is repeated if nothing listens', async () => {
    const result = await traceSender(
      { steps: stepsOf(modelJournal()), agents },
      { OTLP_ENDPOINT: 'http://127.0.0.1:9', OTLP_HEADERS: 'KEYS', KEYS: `authorization=${SECRET}` },
    )(aRun())
    expect(result).toMatchObject({ ok: false, isGone: false, responseStatus: null })
    expect(result.error).toMatch(/^Could not connect to 127\.0\.0\.1:9: /)
    expect(result.error).not.toContain(SECRET)
  })

  it('waits 5 seconds for a slow receiver, and begins no request after 25', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const timeouts: number[] = []
    const send = traceSender(
      { steps: stepsOf(codeJournal().concat(codeJournal(), codeJournal()), 1), agents },
      { OTLP_ENDPOINT: 'https://collector.example' },
      async (_request, { timeoutMs }) => {
        vi.setSystemTime(Date.now() + timeoutMs - 1)
        timeouts.push(timeoutMs)
        return { ok: true, responseStatus: 200, error: null, isGone: false }
      },
    )
    const error = 'Not sent within 25 seconds.'
    expect(await send(aRun())).toEqual({ ok: false, isGone: false, responseStatus: null, error })
    expect(timeouts).toEqual(Array(6).fill(5_000))
  })

  it('throws Unavailable if the journal cannot be read', async () => {
    const list = () => Promise.reject(new Unavailable(new Error('throttled')))
    const { received, send } = await aReceiver({ steps: { list } })
    await expect(send(aRun())).rejects.toThrow(Unavailable)
    expect(received).toEqual([])
  })
})
