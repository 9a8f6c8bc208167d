import { once } from 'node:events'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { ANONYMOUS } from '../../../lib/core/access.ts'
import type { ExecutionEvent } from '../../../lib/core/step.ts'
import { toProxyResult } from '../../../lib/http/event.ts'
import { toEventStreamResponse } from '../../../lib/http/event-stream.ts'
import type { Handlers } from '../../../local/gateway/functions.ts'
import { createGateway, type GatewayOptions } from '../../../local/gateway/gateway.ts'
import { closeServer, listen, urlOf } from '../../../local/gateway/listen.ts'

const closings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closings.splice(0)) await close()
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** A gateway whose `GET /v1/me` calls this handler, without a token. */
async function serve(
  handle: (event: APIGatewayProxyEvent, context: { signal?: AbortSignal }) => unknown,
  options: Partial<GatewayOptions> = {},
) {
  const handlers = {
    'get-me': async (event, context) => handle(event, context),
    'check-health': async () => toProxyResult({ status: 200, body: { success: true } }),
  } as Partial<Handlers> as Handlers
  const policyDocument = { Version: '2012-10-17', Statement: [] }
  const authorizer = async () => ({ principalId: 'me', policyDocument })
  const gateway = createGateway({ handlers, authorizer, corsOrigins: [], ...options })
  await listen(gateway, '127.0.0.1', 0)
  closings.push(() => closeServer(gateway))
  const url = urlOf(gateway, '127.0.0.1')
  return {
    port: Number(new URL(url).port),
    get: () => fetch(`${url}/v1/me`, { headers: { Authorization: 'Bearer x' } }),
    isHealthy: async () => (await fetch(`${url}/v1/healthcheck`)).ok,
  }
}

const request = (method = 'GET') => `${method} /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n\r\n`

/** Sends text on a connection of its own. */
async function open(port: number, text: string) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

const endless = () => new Readable({ read() {} })

const INVALID: [string, unknown][] = [
  ['a header with a line break', { statusCode: 200, headers: { 'X-A': 'a\r\nb' }, body: '' }],
  ['a status that is none', { statusCode: 7, headers: {}, body: '' }],
  ['no body', { statusCode: 200, headers: {} }],
  ['nothing', undefined],
]

describe('createGateway', () => {
  it.each(INVALID)('responds with InternalError when a function returns %s', async (_name, result) => {
    const log = vi.spyOn(console, 'error').mockReturnValue()
    const { get, isHealthy } = await serve(() => result)
    const response = await get()
    expect([response.status, response.headers.get('x-a')]).toEqual([500, null])
    expect(await response.json()).toMatchObject({ code: 'InternalError' })
    expect(log).toHaveBeenCalledOnce()
    expect(await isHealthy()).toBe(true)
  })

  it.each([
    ['before the response', 'GET', true],
    ['during the response', 'GET', false],
    ['after HEAD', 'HEAD', false],
  ])('destroys the stream of a function when its client has gone: %s', async (_name, method, isEarly) => {
    const stream = endless()
    const [called, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { port, isHealthy } = await serve(async ({ headers }) => {
      called.resolve()
      if (isEarly) await gone.promise
      return toProxyResult({ status: 200, stream, headers: { 'X-Host': headers.Host ?? '' } })
    })
    const socket = await open(port, request(method))
    await called.promise
    if (!isEarly) await once(socket, 'data')
    socket.destroy()
    // The gateway has noticed the end of a connection when it responds on a later one.
    expect(await isHealthy()).toBe(true)
    gone.resolve()
    await expect.poll(() => stream.destroyed).toBe(true)
  })

  it('tells the functions of all requests of a connection that the client has hung up', async () => {
    const calls = 20
    const reasons: unknown[] = []
    const warnings = vi.spyOn(process, 'emitWarning').mockReturnValue()
    let begun = 0
    const { port, isHealthy } = await serve(async (_, { signal }) => {
      begun++
      if (signal) await once(signal, 'abort')
      reasons.push(signal?.reason)
      throw signal?.reason
    })
    const socket = await open(port, request().repeat(calls))
    await expect.poll(() => begun).toBe(calls)
    socket.destroy()
    await expect.poll(() => reasons.length).toBe(calls)
    expect(reasons).toEqual(Array(calls).fill(expect.objectContaining({ code: 'BadRequest' })))
    expect(await isHealthy()).toBe(true)
    expect(warnings).not.toHaveBeenCalled()
  })

  it('survives a stream that fails, also while it is destroyed', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue()
    const gone = Promise.withResolvers<void>()
    const fails = () => {
      throw new Error('broken')
    }
    let calls = 0
    const { get, isHealthy, port } = await serve(async () => {
      if (calls++ === 0) return toProxyResult({ status: 200, stream: new Readable({ read: fails }) })
      await gone.promise
      const destroy = (_error: unknown, callback: (error: Error) => void) => callback(new Error('broken'))
      return toProxyResult({ status: 200, stream: new Readable({ destroy }) })
    })
    await expect(get().then((response) => response.text())).rejects.toThrow()
    const socket = await open(port, request())
    await expect.poll(() => calls).toBe(2)
    socket.destroy()
    expect(await isHealthy()).toBe(true)
    gone.resolve()
    expect(await isHealthy()).toBe(true)
    expect(log).toHaveBeenCalledWith('A stream failed:', expect.anything())
  })

  it.each([
    ['headers', 'POST /v1/me HTTP/1.1\r\nHost: x\r\n'],
    ['body', 'POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n{'],
  ])('responds with 408 to a request whose %s did not arrive in time', async (_part, text) => {
    const { port, isHealthy } = await serve(() => undefined, { receiveMs: 100 })
    const socket = await open(port, text)
    const received = await buffer(socket)
    const [head = '', body = ''] = String(received).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
    expect(JSON.parse(body)).toMatchObject({ status: 408, code: 'BadRequest' })
    expect(await isHealthy()).toBe(true)
  })
})

describe('toEventStreamResponse', () => {
  it('ends a reader that waits as soon as its client has gone', async () => {
    vi.stubEnv('RESPONSE_STREAMING', 'local')
    const ended = Promise.withResolvers<void>()
    const read = async function* (signal: AbortSignal): AsyncGenerator<ExecutionEvent[]> {
      yield [{ kind: 'idle' }]
      await once(signal, 'abort')
      ended.resolve()
    }
    const held = { full: new AbortController().signal, release: () => undefined }
    const { port } = await serve(async () =>
      toProxyResult(await toEventStreamResponse(read, { access: ANONYMOUS, held })),
    )
    const socket = await open(port, request())
    await once(socket, 'data')
    socket.destroy()
    await ended.promise
  })
})
