import { describe, expect, it } from 'vitest'
import { json, serve } from '../serve.ts'
import { call, callAs, ODD_KEY, openDeclared, SENT_KEY } from '../tools.ts'

const lambdaDocument = (name: string, timeoutSeconds = 60) => ({
  name: 'invoke',
  description: 'Invokes.',
  input: { id: { type: 'string' } },
  timeoutSeconds,
  lambda: { function: name },
})

async function invoke(respond: Parameters<typeof serve>[0], timeoutSeconds?: number) {
  const server = await serve(respond)
  const tools = await openDeclared([lambdaDocument('orders:live', timeoutSeconds)], {
    environment: { LAMBDA_ENDPOINT: server.url },
  })
  return { result: await call(tools, 'invoke', { id: 'ü' }), server }
}

describe('openLambdaTool', () => {
  it('invokes the function synchronously with the input, a hash of the id of the call, and its trace', async () => {
    const server = await serve((response) => json(response, { total: 3 }))
    const tools = await openDeclared([lambdaDocument('orders:live')], {
      environment: { LAMBDA_ENDPOINT: server.url },
      traceparentOf: (key) => `trace of ${key.length} characters`,
    })
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
  const cases: [string, Parameters<typeof serve>[0], object][] = [
    ['null', (r) => r.end('null'), { ok: true, value: null }],
    ['no payload', (r) => r.end(), { ok: true, value: null }],
    ['invalid JSON', (r) => r.end('<a>'), { ok: false, error: 'The function returned invalid JSON: <a>' }],
    [
      'an exception',
      (r) =>
        r.writeHead(200, failing).end('{"errorType":"TypeError","errorMessage":"boom","trace":["at x"]}'),
      { ok: false, error: 'The function failed: TypeError: boom' },
    ],
    [
      'a crash',
      (r) => r.writeHead(200, failing).end('oom'),
      { ok: false, error: 'The function failed: oom' },
    ],
    [
      'a missing function',
      (r) => r.writeHead(404, missing).end('{"Message":"Function not found: orders"}'),
      { ok: false, error: expect.stringMatching(/ResourceNotFoundException.*Function not found/) },
    ],
    [
      'a dropped connection',
      (r) => r.destroy(),
      { ok: false, error: expect.stringContaining('Could not invoke') },
    ],
  ]
  it.each(cases)('%s: invokes the function once and returns the result', async (_, respond, expected) => {
    const { result, server } = await invoke(respond)
    expect(result).toEqual(expected)
    expect(server.received).toHaveLength(1)
  })

  it('no response: ends after the time limit', async () => {
    const { result, server } = await invoke(() => undefined, 1)
    expect(result).toEqual({ ok: false, error: 'The call timed out after 1 s.' })
    expect(server.received.length).toBeLessThanOrEqual(1)
  })
})
