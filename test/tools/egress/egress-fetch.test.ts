import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { egressFetch } from '../../../lib/tools/egress/egress-fetch.ts'

const received: (Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: string })[] = []
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { method, url = '', headers } = request
  received.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
  const redirect = /^\/redirect\/(\d+)\/(.*)$/.exec(url)
  if (redirect)
    response.writeHead(Number(redirect[1]), { location: decodeURIComponent(redirect[2] ?? '') }).end()
  else if (url === '/loop') response.writeHead(302, { location: '/loop' }).end()
  else if (url === '/gzip') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('unpacked'))
  else if (url === '/none') response.writeHead(204).end()
  else if (url === '/cookies') response.writeHead(200, ['set-cookie', 'a=1', 'set-cookie', 'b=2']).end()
  else if (url === '/silent') response.writeHead(200).flushHeaders()
  else response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
})
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
const policy = { allowedHosts: [host] }
afterAll(() => server.close().closeAllConnections())
beforeEach(() => void received.splice(0))

const at = (path: string) => `http://${host}${path}`
const redirectTo = (status: number, url: string) => at(`/redirect/${status}/${encodeURIComponent(url)}`)

describe('egressFetch', () => {
  it('sends what fetch would, and the given headers unless the request has them', async () => {
    const init = { method: 'POST', body: JSON.stringify({ a: 1 }), headers: { 'X-Own': 'mine' } }
    const response = await egressFetch(at('/a?b=c'), init, policy, { traceparent: 't', 'x-own': 'given' })
    expect(response).toMatchObject({ status: 200, url: at('/a?b=c'), redirected: false })
    expect(await response.json()).toEqual({ ok: true })
    expect(received).toMatchObject([
      { method: 'POST', url: '/a?b=c', body: '{"a":1}', headers: { traceparent: 't', 'x-own': 'mine' } },
    ])
  })

  it.each([
    ['http://127.0.0.1:1/', /must start with https:\/\/ unless allowedHosts contains "127\.0\.0\.1:1"/],
    ['https://10.0.0.1/', /must not use a non-public address unless allowedHosts contains "10\.0\.0\.1"/],
    ['https://user:pass@example.com/', /credentials|user name/],
    ['data:text/plain,x', /must start with https/],
    ['https://localhost/', /resolves to a non-public address/],
  ])('refuses %s', async (url, message) => {
    await expect(egressFetch(url, undefined, policy)).rejects.toThrow(message)
  })

  it('checks a redirect like the first URL', async () => {
    const following = egressFetch(redirectTo(302, 'http://169.254.169.254/latest'), undefined, policy)
    await expect(following).rejects.toThrow(/allowedHosts contains "169\.254\.169\.254"/)
    const followed = await egressFetch(redirectTo(307, '/a'), { method: 'POST', body: 'x' }, policy)
    expect([followed.url, followed.redirected]).toEqual([at('/a'), true])
    expect(received.at(-1)).toMatchObject({ method: 'POST', url: '/a', body: 'x' })
  })

  it.each([301, 302, 303])('turns a POST into a GET for a redirect %i, without its body', async (status) => {
    await egressFetch(redirectTo(status, '/a'), { method: 'POST', body: 'x' }, policy)
    expect(received.at(-1)).toMatchObject({ method: 'GET', url: '/a', body: '' })
    expect(received.at(-1)?.headers).not.toHaveProperty('content-type')
  })

  it('sends credentials to no other origin', async () => {
    const other = `localhost:${host.split(':')[1]}`
    const headers = { authorization: 'Bearer x', cookie: 'a=1', 'x-own': 'kept' }
    await egressFetch(redirectTo(302, `http://${other}/a`), { headers }, { allowedHosts: [host, other] })
    expect(received[0]?.headers).toMatchObject(headers)
    expect(received[1]?.headers).toMatchObject({ host: other, 'x-own': 'kept' })
    expect(received[1]?.headers).not.toHaveProperty('authorization')
    expect(received[1]?.headers).not.toHaveProperty('cookie')
  })

  it('follows no redirect if it must not, and at most 20', async () => {
    const loop = at(`/redirect/302/${encodeURIComponent('x')}`)
    await expect(egressFetch(loop, { redirect: 'error' }, policy)).rejects.toThrow(/none is allowed/)
    expect((await egressFetch(loop, { redirect: 'manual' }, policy)).status).toBe(302)
    await expect(egressFetch(at('/loop'), undefined, policy)).rejects.toThrow(/too many/)
    expect(received.filter(({ url }) => url === '/loop')).toHaveLength(21)
  })

  it('reads compressed and empty responses, and every cookie', async () => {
    expect(await (await egressFetch(at('/gzip'), undefined, policy)).text()).toBe('unpacked')
    expect(await (await egressFetch(at('/none'), undefined, policy)).text()).toBe('')
    expect((await egressFetch(at('/a'), { method: 'HEAD' }, policy)).status).toBe(200)
    const { headers } = await egressFetch(at('/cookies'), undefined, policy)
    expect(headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  })

  it('ends with the signal of the request, before and while it reads', async () => {
    const reason = new Error('enough')
    await expect(egressFetch(at('/a'), { signal: AbortSignal.abort(reason) }, policy)).rejects.toBe(reason)
    const controller = new AbortController()
    const response = await egressFetch(at('/silent'), { signal: controller.signal }, policy)
    const reading = response.text()
    controller.abort(reason)
    await expect(reading).rejects.toThrow()
  })
})
