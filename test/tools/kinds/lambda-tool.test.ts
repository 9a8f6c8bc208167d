import { describe, expect, it } from 'vitest'
import { json, serve } from '../serve.ts'
import { call, callAs, ODD_KEY, openDeclared, SENT_KEY } from '../tools.ts'

const DOCUMENT = {
  name: 'invoke',
  description: 'Invokes.',
  input: { id: { type: 'string' } },
  lambda: { function: 'orders:live' },
}

type Respond = Parameters<typeof serve>[0]

async function open(respond: Respond, timeoutSeconds = 60) {
  const server = await serve(respond)
  const environment = { LAMBDA_ENDPOINT: server.url }
  const traceparentOf = (key: string) => `trace of ${key.length} characters`
  return {
    server,
    tools: await openDeclared([{ ...DOCUMENT, timeoutSeconds }], { environment, traceparentOf }),
  }
}

async function invoke(respond: Respond, timeoutSeconds?: number) {
  const { server, tools } = await open(respond, timeoutSeconds)
  return { result: await call(tools, 'invoke', { id: 'ü' }), server }
}

const failed = (error: unknown) => ({ ok: false, error })

describe('openLambdaTool', () => {
  it('invokes the function synchronously with the input, a hash of the id of the call, and its trace', async () => {
    const { server, tools } = await open((response) => json(response, { total: 3 }))
    expect(await callAs(tools, 'invoke', { id: 'ü' }, ODD_KEY)).toEqual({ ok: true, value: { total: 3 } })
    const [received] = server.received
    expect(received?.path).toBe('/2015-03-31/functions/orders%3Alive/invocations')
    expect(received?.headers['x-amz-invocation-type']).toBe('RequestResponse')
    expect(JSON.parse(received?.body ?? '')).toEqual({ id: 'ü' })
    const context = Buffer.from(String(received?.headers['x-amz-client-context']), 'base64').toString()
    expect(JSON.parse(context)).toEqual({
      custom: {
        idempotencyKey: expect.stringMatching(SENT_KEY),
        traceparent: `trace of ${ODD_KEY.length} characters`,
      },
    })
  })

  it('keeps the digits of numbers', async () => {
    const { result } = await invoke((response) => response.end('{"orderId":7615917337495251231,"n":1.50}'))
    expect(JSON.stringify(result)).toBe('{"ok":true,"value":{"orderId":7615917337495251231,"n":1.5}}')
  })

  const missing = { 'x-amzn-errortype': 'ResourceNotFoundException', 'content-type': 'application/json' }
  const failing = { 'x-amz-function-error': 'Unhandled' }
  const exception = '{"errorType":"TypeError","errorMessage":"boom","trace":["at x"]}'
  const notFound = '{"Message":"Function not found: orders"}'
  it.each<[string, Respond, object]>([
    ['null', (r) => r.end('null'), { ok: true, value: null }],
    ['no payload', (r) => r.end(), { ok: true, value: null }],
    ['invalid JSON', (r) => r.end('<a>'), failed('The function returned invalid JSON: <a>')],
    [
      'an exception',
      (r) => r.writeHead(200, failing).end(exception),
      failed('The function failed: TypeError: boom'),
    ],
    ['a crash', (r) => r.writeHead(200, failing).end('oom'), failed('The function failed: oom')],
    [
      'a missing function',
      (r) => r.writeHead(404, missing).end(notFound),
      failed(expect.stringMatching(/ResourceNotFoundException.*Function not found/)),
    ],
    ['a dropped connection', (r) => r.destroy(), failed(expect.stringContaining('Could not invoke'))],
  ])('%s: invokes the function once and returns the result', async (_, respond, expected) => {
    const { result, server } = await invoke(respond)
    expect(result).toEqual(expected)
    expect(server.received).toHaveLength(1)
  })

  it('no response: ends after the time limit', async () => {
    const { result, server } = await invoke(() => undefined, 1)
    expect(result).toEqual(failed('The call timed out after 1 s.'))
    expect(server.received.length).toBeLessThanOrEqual(1)
  })
})
