import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LOOPBACK_ORGANIZATION } from '../../../lib/environment.ts'
import { parseHosts } from '../../../lib/host-list.ts'
import { toolsSchema } from '../../../lib/tools/document/tools-schema.ts'
import {
  findEndpointProblem,
  findUrlProblem,
  isPublicAddress,
  publicLookup,
} from '../../../lib/tools/egress/egress-policy.ts'
import { privateHosts } from '../../../lib/tools/egress/private-hosts.ts'
import { openTools } from '../../../lib/tools/open-tools.ts'
import { serve } from '../serve.ts'
import { serveTls } from '../serve-tls.ts'
import { call, depsOf, httpTool, openDeclared } from '../tools.ts'

/** Notations of URLs with a non-public address, and URLs that disguise their host or use another scheme. */
const DENIED_URLS = [
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.0.0.1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://127.0.0.1./',
  'https://0/',
  'https://127。0。0。1/',
  'https://①②⑦.0.0.1/',
  'https://%31%32%37.0.0.1/',
  'https:127.0.0.1',
  'https:\\\\127.0.0.1\\',
  'https://169.254.169.254/latest/meta-data/',
  'https://2852039166/',
  'https://0xa9fea9fe/',
  'https://10.0.0.1:8443/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]/',
  'https://shop.example@127.0.0.1/',
  'https://shop.example:443@127.0.0.1/',
  'https://127.0.0.1@shop.example/',
  'https://127.0.0.1\\@shop.example/',
  'https://127.0.0.1#@shop.example/',
  'https://127.0.0.1?@shop.example/',
  'http://shop.example/',
  'http://8.8.8.8/',
  'ftp://shop.example/',
  'file:///etc/passwd',
  'data:text/plain,a',
  'gopher://127.0.0.1/',
]

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

const toNumber = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
const toIpv4 = (address: number) =>
  [24, 16, 8, 0].map((bits) => Math.floor(address / 2 ** bits) % 256).join('.')

describe('isPublicAddress', () => {
  /** The first and the last address of the blocks that are not globally reachable, by IANA, and of multicast. */
  const blocks = [
    ['0.0.0.0', '0.255.255.255'],
    ['10.0.0.0', '10.255.255.255'],
    ['100.64.0.0', '100.127.255.255'],
    ['127.0.0.0', '127.255.255.255'],
    ['169.254.0.0', '169.254.255.255'],
    ['172.16.0.0', '172.31.255.255'],
    ['192.0.0.0', '192.0.0.255'],
    ['192.0.2.0', '192.0.2.255'],
    ['192.88.99.0', '192.88.99.255'],
    ['192.168.0.0', '192.168.255.255'],
    ['198.18.0.0', '198.19.255.255'],
    ['198.51.100.0', '198.51.100.255'],
    ['203.0.113.0', '203.0.113.255'],
    ['224.0.0.0', '255.255.255.255'],
  ].map((edges) => edges.map(toNumber) as [number, number])
  const isOutside = (address: number) => blocks.every(([first, last]) => address < first || address > last)

  it('is false in the blocks of IPv4 that are not globally reachable, and true next to them', () => {
    for (const [first, last] of blocks) {
      for (const address of [first, last]) expect(isPublicAddress(toIpv4(address))).toBe(false)
      for (const address of [first - 1, last + 1].filter((each) => each >= 0 && each <= 0xffff_ffff))
        expect([address, isPublicAddress(toIpv4(address))]).toEqual([address, isOutside(address)])
    }
    fc.assert(
      fc.property(fc.nat(0xffff_ffff), (address) => {
        expect(isPublicAddress(toIpv4(address))).toBe(isOutside(address))
        expect(isPublicAddress(`::ffff:${toIpv4(address)}`)).toBe(false)
      }),
    )
  })

  const ipv6 = [
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:a9fe:a9fe',
    '0:0:0:0:0:ffff:7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
  ]
  const others = [
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
  ]
  it.each([...ipv6, ...others, 'fe80::1%eth0', 'fec0::1', 'ff02::1', '', 'shop.example'])(
    'is false for %s',
    (address) => expect(isPublicAddress(address)).toBe(false),
  )

  it.each(['2001:4860:4860::8888', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e'])(
    'is true for %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  )
})

describe('findUrlProblem', () => {
  it.each(DENIED_URLS)('denies %s', (url) =>
    expect(findUrlProblem(new URL(url), { allowedHosts: [] })).not.toBeNull(),
  )

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
    expect(findUrlProblem(new URL(url), { allowedHosts: [host] }) === null).toBe(isAllowed)
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

describe('private hosts', () => {
  const ORGANIZATION = 'an organization'
  const LOOPBACK = [
    '127.0.0.1:8080',
    'localhost:8080',
    'LOCALHOST',
    '127.1',
    '0x7f.1:80',
    '[::1]:8080',
    'a.localhost',
  ]
  const LINK_LOCAL = ['169.254.169.254', '2852039166', '[fe80::1]', '10.0.0.1:443', '[::ffff:127.0.0.1]']

  /** Whether a webhook that names its own host in allowedHosts may have it. */
  function mayReach(host: string, environment: Record<string, string>): boolean {
    const mayBePrivate = privateHosts(ORGANIZATION, environment)
    return findEndpointProblem(`http://${host}/`, [host], mayBePrivate) === null
  }

  describe('privateHosts', () => {
    it.each([...LOOPBACK, ...LINK_LOCAL])(
      'contains %s only for the development token, if it is loopback',
      (host) => {
        expect(mayReach(host, {})).toBe(false)
        expect(mayReach(host, { [LOOPBACK_ORGANIZATION]: 'another one' })).toBe(false)
        expect(mayReach(host, { [LOOPBACK_ORGANIZATION]: ORGANIZATION })).toBe(LOOPBACK.includes(host))
      },
    )

    it.each([
      ['10.0.0.1', '10.0.0.1:9000', true],
      ['10.0.0.1:9000', '10.0.0.1:9000', true],
      ['10.0.0.1:9000', '10.0.0.1:9001', false],
      ['other.internal, 10.0.0.1', '10.0.0.1', true],
      ['10.0.0.2', '10.0.0.1', false],
      ['[::1]', '[::1]:8080', true],
      ['127.0.0.1', 'localhost', false],
    ])('with "%s", %s: %s', (setting, host, isAllowed) => {
      expect(mayReach(host, { WEBHOOK_HOSTS: setting })).toBe(isAllowed)
    })

    it('takes public hosts over plain HTTP, whose addresses are checked at each request', () => {
      expect(mayReach('receiver.example', {})).toBe(true)
      expect(mayReach('8.8.8.8:8080', {})).toBe(true)
    })
  })

  it.each(['https://a.internal', 'a.internal/path', '*', 'a:b'])('parseHosts refuses %s', (text) => {
    expect(() => parseHosts(text)).toThrow(`contains "${text}"; it must have hosts separated by commas`)
  })
})
