import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { describe, expect, it } from 'vitest'
import { publicLookup, refusalOf } from '../../../lib/tools/egress/egress-policy.ts'
import { isPublicAddress } from '../../../lib/tools/egress/public-address.ts'
import { openTools } from '../../../lib/tools/open-tools.ts'
import { toolsSchema } from '../../../lib/tools/tool-document.ts'
import { serve } from '../serve.ts'
import { serveTls } from '../serve-tls.ts'
import { call, depsOf, httpTool, openWritten } from '../tools.ts'
import { FORBIDDEN_ADDRESSES, FORBIDDEN_URLS, PUBLIC_ADDRESSES } from './addresses.ts'

/** A look-up that answers from a script, one entry a call, and with the last one ever after. */
function scripted(...script: string[][]) {
  const asked: string[] = []
  const lookup = ((hostname: string, _: unknown, callback: (error: null, found: LookupAddress[]) => void) => {
    const addresses = script[Math.min(asked.length, script.length - 1)] ?? []
    asked.push(hostname)
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }) as unknown as LookupFunction
  return { lookup, asked }
}

describe('isPublicAddress', () => {
  it.each(FORBIDDEN_ADDRESSES)('refuses %s', (address) => expect(isPublicAddress(address)).toBe(false))
  it.each(PUBLIC_ADDRESSES)('takes %s', (address) => expect(isPublicAddress(address)).toBe(true))
})

describe('refusalOf', () => {
  it.each(FORBIDDEN_URLS)('refuses %s', (url) => expect(refusalOf(new URL(url), [])).not.toBeNull())

  const allowed: [string, string, boolean][] = [
    ['https://shop.example/', 'other.example', true],
    ['https://8.8.8.8/', 'other.example', true],
    ['http://localhost:8080/', 'localhost:8080', true],
    ['http://LOCALHOST:8080/', 'localhost:8080', true],
    ['http://localhost:8080/', 'LocalHost:8080', true],
    ['http://localhost:8081/', 'localhost:8080', false],
    ['http://localhost/', 'localhost:80', true],
    ['http://localhost/', 'localhost', true],
    ['http://localhost:8080/', 'localhost', false],
    ['https://10.0.0.1/', '10.0.0.1', true],
    ['https://0xa000001/', '10.0.0.1', true],
    ['https://[::1]:8443/', '[::1]:8443', true],
    ['http://localhost.evil.example:8080/', 'localhost:8080', false],
    ['http://localhost:8080@evil.example/', 'localhost:8080', false],
    ['http://user@localhost:8080/', 'localhost:8080', false],
  ]
  it.each(allowed)('of %s when %s is allowed: taken is %s', (url, host, isTaken) => {
    expect(refusalOf(new URL(url), [host]) === null).toBe(isTaken)
  })
})

describe('publicLookup', () => {
  const ask = (lookup: LookupFunction, all: boolean) =>
    new Promise((resolve) => {
      publicLookup(lookup)('shop.example', { all }, (error, ...found) => resolve(error?.message ?? found))
    })

  it('hands the socket the very addresses that it checked', async () => {
    const { lookup, asked } = scripted(['8.8.8.8', '2606:4700:4700::1111'], ['127.0.0.1'])
    expect(await ask(lookup, true)).toEqual([
      [
        { address: '8.8.8.8', family: 4 },
        { address: '2606:4700:4700::1111', family: 6 },
      ],
    ])
    expect(asked).toHaveLength(1)
    expect(await ask(scripted(['8.8.8.8']).lookup, false)).toEqual(['8.8.8.8', 4])
  })

  it.each([true, false])('refuses when one of the addresses is not public (all: %s)', async (all) => {
    expect(await ask(scripted(['8.8.8.8', '127.0.0.1']).lookup, all)).toContain('not public')
    expect(await ask(scripted(['127.0.0.1', '8.8.8.8']).lookup, all)).toContain('not public')
    expect(await ask(scripted([]).lookup, all)).toContain('not public')
  })
})

describe('a tool', () => {
  const names = ['localhost', 'localhost.', 'shop.example']
  it.each(names)('does not connect to %s when its address is loopback', async (name) => {
    const server = await serveTls()
    const { lookup } = scripted(['127.0.0.1'])
    const tool = httpTool('', { url: `https://${name}:${server.port}/`, allowedHosts: [] })
    const tools = await openWritten([tool], name === 'localhost' ? {} : { lookup })
    const error = expect.stringContaining(`the host ${name} has an address that is not public`)
    expect(await call(tools, 'get', {})).toEqual({ ok: false, error })
    expect(server.connectionCount()).toBe(0)
  })

  it('that passed the check once is checked again at the next call (DNS rebinding)', async () => {
    const server = await serveTls()
    const { lookup, asked } = scripted([], ['127.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['0.0.0.0'])
    const tool = httpTool('', { url: `https://shop.example:${server.port}/`, allowedHosts: [] })
    const tools = await openWritten([tool], { lookup })
    for (const _ of [1, 2, 3, 4, 5]) expect(await call(tools, 'get', {})).toMatchObject({ ok: false })
    expect(asked).toHaveLength(5)
    expect(server.connectionCount()).toBe(0)
  })

  it('reaches a host that its document allows, by name too', async () => {
    const server = await serve((response) => response.end('reached'))
    const host = `shop.example:${server.host.split(':')[1]}`
    const tools = await openWritten([httpTool(host)], { lookup: scripted(['127.0.0.1']).lookup })
    expect(await call(tools, 'get', {})).toEqual({ ok: true, value: 'reached' })
  })

  it('is refused before it is opened, and by itself, when its URL leads to a forbidden address', async () => {
    const server = await serve((response) => response.end('reached'))
    const written = httpTool(server.host)
    const [document] = toolsSchema.parse([written])
    expect(toolsSchema.safeParse([{ ...written, http: { ...written.http, allowedHosts: [] } }]).success).toBe(
      false,
    )
    if (document?.http) document.http.allowedHosts = []
    const tools = await openTools(document ? [document] : [], depsOf())
    expect(await call(tools, 'get', {})).toMatchObject({
      ok: false,
      error: expect.stringContaining('https://'),
    })
    expect(server.connections).toHaveLength(0)
  })
})
