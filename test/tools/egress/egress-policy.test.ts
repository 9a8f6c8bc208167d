import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { describe, expect, it } from 'vitest'
import { toolsSchema } from '../../../lib/tools/document/tools-schema.ts'
import { findUrlProblem, isPublicAddress, publicLookup } from '../../../lib/tools/egress/egress-policy.ts'
import { openTools } from '../../../lib/tools/open-tools.ts'
import { serve } from '../serve.ts'
import { serveTls } from '../serve-tls.ts'
import { call, depsOf, httpTool, openDeclared } from '../tools.ts'
import { DENIED_URLS, NON_PUBLIC_ADDRESSES, PUBLIC_ADDRESSES } from './addresses.ts'

/** A lookup that returns one entry of the script per call, and then repeats the last one. */
function scripted(...script: string[][]) {
  const requested: string[] = []
  const lookup = ((hostname: string, _: unknown, callback: (error: null, found: LookupAddress[]) => void) => {
    const addresses = script[Math.min(requested.length, script.length - 1)] ?? []
    requested.push(hostname)
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }) as unknown as LookupFunction
  return { lookup, requested }
}

describe('isPublicAddress', () => {
  it.each(NON_PUBLIC_ADDRESSES)('is false for %s', (address) => expect(isPublicAddress(address)).toBe(false))
  it.each(PUBLIC_ADDRESSES)('is true for %s', (address) => expect(isPublicAddress(address)).toBe(true))
})

describe('findUrlProblem', () => {
  it.each(DENIED_URLS)('denies %s', (url) => expect(findUrlProblem(new URL(url), [])).not.toBeNull())

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
  it.each(allowed)('%s with %s in allowedHosts: allowed is %s', (url, host, isAllowed) => {
    expect(findUrlProblem(new URL(url), [host]) === null).toBe(isAllowed)
  })
})

describe('publicLookup', () => {
  const resolve = (lookup: LookupFunction, all: boolean) =>
    new Promise((done) => {
      publicLookup(lookup)('shop.example', { all }, (error, ...found) => done(error?.message ?? found))
    })

  it('returns the addresses that it has checked', async () => {
    const { lookup, requested } = scripted(['8.8.8.8', '2606:4700:4700::1111'], ['127.0.0.1'])
    expect(await resolve(lookup, true)).toEqual([
      [
        { address: '8.8.8.8', family: 4 },
        { address: '2606:4700:4700::1111', family: 6 },
      ],
    ])
    expect(requested).toHaveLength(1)
    expect(await resolve(scripted(['8.8.8.8']).lookup, false)).toEqual(['8.8.8.8', 4])
  })

  it.each([true, false])('fails if any address is not public (all: %s)', async (all) => {
    expect(await resolve(scripted(['8.8.8.8', '127.0.0.1']).lookup, all)).toContain('non-public')
    expect(await resolve(scripted(['127.0.0.1', '8.8.8.8']).lookup, all)).toContain('non-public')
    expect(await resolve(scripted([]).lookup, all)).toContain('non-public')
  })
})

describe('an HTTP tool', () => {
  const names = ['localhost', 'localhost.', 'shop.example']
  it.each(names)('does not connect to %s if it resolves to a loopback address', async (name) => {
    const server = await serveTls()
    const { lookup } = scripted(['127.0.0.1'])
    const tool = httpTool('', { url: `https://${name}:${server.port}/`, allowedHosts: [] })
    const tools = await openDeclared([tool], name === 'localhost' ? {} : { lookup })
    const error = expect.stringContaining(`the host ${name} resolves to a non-public address`)
    expect(await call(tools, 'get', {})).toEqual({ ok: false, error })
    expect(server.connectionCount()).toBe(0)
  })

  it('checks the address again on each call (DNS rebinding)', async () => {
    const server = await serveTls()
    const { lookup, requested } = scripted([], ['127.0.0.1'], ['::1'], ['::ffff:127.0.0.1'], ['0.0.0.0'])
    const tool = httpTool('', { url: `https://shop.example:${server.port}/`, allowedHosts: [] })
    const tools = await openDeclared([tool], { lookup })
    for (const _ of [1, 2, 3, 4, 5]) expect(await call(tools, 'get', {})).toMatchObject({ ok: false })
    expect(requested).toHaveLength(5)
    expect(server.connectionCount()).toBe(0)
  })

  it('connects to a host in allowedHosts, also by name', async () => {
    const server = await serve((response) => response.end('reached'))
    const host = `shop.example:${server.host.split(':')[1]}`
    const tools = await openDeclared([httpTool(host)], { lookup: scripted(['127.0.0.1']).lookup })
    expect(await call(tools, 'get', {})).toEqual({ ok: true, value: 'reached' })
  })

  it('rejects a denied URL both when publishing and when calling', async () => {
    const server = await serve((response) => response.end('reached'))
    const declared = httpTool(server.host)
    const [document] = toolsSchema.parse([declared])
    expect(
      toolsSchema.safeParse([{ ...declared, http: { ...declared.http, allowedHosts: [] } }]).success,
    ).toBe(false)
    if (document?.http) document.http.allowedHosts = []
    const tools = await openTools(document ? [document] : [], depsOf())
    expect(await call(tools, 'get', {})).toMatchObject({
      ok: false,
      error: expect.stringContaining('https://'),
    })
    expect(server.connections).toHaveLength(0)
  })
})
