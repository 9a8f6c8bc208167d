import { request } from 'node:http'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { MAX_OVERLAP_SECONDS, SCOPES, TOKEN_LIFETIME_DAYS } from '../../../lib/core/access.ts'
import { agentIdOf } from '../../../lib/core/ids.ts'
import { system } from '../../../lib/system.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import { type ApiClient, type ApiResponse, createClient, getNextLink } from '../../support/service/client.ts'
import { localHandlers } from '../../support/service/local-handlers.ts'

const DAY_MS = 86_400_000
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()

let own: TestOrganization
let other: TestOrganization
beforeAll(async () => {
  own = await newOrganization()
  other = await newOrganization()
})

const create = (call: ApiClient, body: object = {}) =>
  call('POST', '/v1/tokens', { body: { name: 'ci', ...body } })
const revoke = (call: ApiClient, id: string, afterSeconds?: number) =>
  call('DELETE', `/v1/tokens/${id}${afterSeconds === undefined ? '' : `?afterSeconds=${afterSeconds}`}`)
const created = async (call: ApiClient, body: object = {}) => {
  const { status, json, text } = await create(call, body)
  expect(status, text).toBe(201)
  return json
}
const clientOf = (token: string) => createClient(inject('service'), token)
const find = async (call: ApiClient, id: string) =>
  (await readAll(call, 100)).find((token) => token.id === id)

type Listed = { id: string; name: string; expiresAt: string | null; revokedAt: string | null }

async function readAll(call: ApiClient, limit: number): Promise<Listed[]> {
  const found: Listed[] = []
  let path: string | undefined = `/v1/tokens?limit=${limit}`
  while (path) {
    const page: ApiResponse = await call('GET', path)
    expect(page.status, page.text).toBe(200)
    found.push(...page.json)
    path = getNextLink(page)
  }
  return found
}

/** The response without the request ID and the date. */
const comparable = ({ status, text, json, headers }: ApiResponse) => [
  status,
  text.replaceAll(json.instance, ''),
  [...headers].filter(([name]) => name !== 'date' && name !== 'x-amzn-requestid'),
]

describe('POST /v1/tokens', () => {
  it('creates a token that works, and shows it once', async () => {
    const response = await create(own.call, { name: '  deploy ' })
    const { token, ...record } = response.json
    expect(response.status).toBe(201)
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(token).toMatch(/^aes_[0-9A-Za-z]{43}$/)
    const me = (await own.call('GET', '/v1/me')).json
    expect(record).toEqual({
      ...{ id: expect.stringMatching(ID), name: 'deploy', prefix: token.slice(0, 8) },
      ...{ scopes: ['run', 'read'], agents: null, tenantId: null, rate: null },
      ...{ createdAt: expect.any(String), createdBy: me.tokenId },
      ...{ expiresAt: expect.any(String), revokedAt: null, lastUsedAt: null },
    })
    expect(Date.parse(record.expiresAt) - Date.parse(record.createdAt)).toBe(90 * DAY_MS)
    const { json } = await clientOf(token)('GET', '/v1/me')
    expect(json).toMatchObject({ organizationId: own.id, tokenId: record.id, scopes: ['run', 'read'] })
    const list = await own.call('GET', '/v1/tokens')
    expect(list.text).not.toContain(token.slice(0, 9))
    expect(list.text).not.toContain('hash')
    expect(await find(own.call, record.id)).toMatchObject({ ...record, lastUsedAt: expect.any(String) })
  })

  it('sets what is asked for, by ID or slug, each agent once', async () => {
    const expiresAt = inDays(3)
    const id = agentIdOf(own.id, 'echo')
    const limits = { scopes: ['manage', 'approve'], tenantId: 'Müller, "& 50 %"', rate: 1_000, expiresAt }
    const agents = ['echo', 'not-yet-published', id.toUpperCase(), 'echo', system.newId()]
    const token = await created(own.call, { ...limits, agents })
    expect(token).toMatchObject({ ...limits, agents: ['echo', agents[1], agents[4]] })
    const expiring = await created(own.call, { expiresAt: '2030-01-01T02:00:00.5+02:00', agents: null })
    expect(expiring).toMatchObject({ expiresAt: '2030-01-01T00:00:00.500Z', agents: null })
    const permanent = await created(own.call, { expiresAt: null, tenantId: null, rate: null })
    expect(permanent).toMatchObject({ expiresAt: null, tenantId: null, rate: null })
  })

  it.each([
    ['no name', '{}', '/name'],
    ['a name of spaces', '{"name":"   "}', '/name'],
    ['a name with a line break', '{"name":"a\\nb"}', '/name'],
    ['a name with an escape', '{"name":"\\u001b[31mred"}', '/name'],
    ['a name with a C1 character', '{"name":"a\\u0085b"}', '/name'],
    ['a name with half a character', '{"name":"\\ud83d"}', '/name'],
    ['a long name', `{"name":"${'x'.repeat(101)}"}`, '/name'],
    ['a name that is a number', '{"name":1}', '/name'],
    ['no scopes', '{"name":"a","scopes":[]}', '/scopes'],
    ['null scopes', '{"name":"a","scopes":null}', '/scopes'],
    ['scopes as a text', '{"name":"a","scopes":"run,manage"}', '/scopes'],
    ['an unknown scope', '{"name":"a","scopes":["run","admin"]}', '/scopes/1'],
    ['a scope in upper case', '{"name":"a","scopes":["RUN"]}', '/scopes/0'],
    ['a repeated scope', '{"name":"a","scopes":["run","run"]}', '/scopes'],
    ['no agents', '{"name":"a","agents":[]}', '/agents'],
    ['an empty agent', '{"name":"a","agents":[""]}', '/agents/0'],
    ['an agent with a comma', '{"name":"a","agents":["echo,counted"]}', '/agents/0'],
    ['51 agents', `{"name":"a","agents":[${Array.from({ length: 51 }, (_, i) => `"a${i}"`)}]}`, '/agents'],
    ['agents as a text', '{"name":"a","agents":"echo"}', '/agents'],
    ['an empty tenant', '{"name":"a","tenantId":""}', '/tenantId'],
    ['a tenant with a line break', '{"name":"a","tenantId":"a\\n"}', '/tenantId'],
    ['no rate', '{"name":"a","rate":0}', '/rate'],
    ['a high rate', '{"name":"a","rate":1001}', '/rate'],
    ['a fraction of a rate', '{"name":"a","rate":0.5}', '/rate'],
    ['a rate as a text', '{"name":"a","rate":"10/s"}', '/rate'],
    ['a past end', '{"name":"a","expiresAt":"2026-01-01T00:00:00Z"}', '/expiresAt'],
    ['a far end', '{"name":"a","expiresAt":"9999-12-31T23:59:59Z"}', '/expiresAt'],
    ['an end without a zone', '{"name":"a","expiresAt":"2027-01-01T00:00:00"}', '/expiresAt'],
    ['a day that is none', '{"name":"a","expiresAt":"2027-02-30T00:00:00Z"}', '/expiresAt'],
    ['an end in seconds', '{"name":"a","expiresAt":1900000000}', '/expiresAt'],
    ['another organization', '{"name":"a","organizationId":"x"}', '/organizationId'],
    ['a text of its own', '{"name":"a","token":"aes_x"}', '/token'],
    ['a prototype', '{"name":"a","__proto__":{"scopes":["manage"]}}', '/__proto__'],
  ])('rejects %s, and creates nothing', async (_, raw, pointer) => {
    const { status, json } = await other.call('POST', '/v1/tokens', { raw })
    expect([status, json.code, json.errors?.[0].path]).toEqual([422, 'InputSchemaMismatch', pointer])
    expect(await readAll(other.call, 100)).toHaveLength(1)
  })

  it('accepts an end within its bounds only', async () => {
    const { max } = TOKEN_LIFETIME_DAYS
    for (const [days, status] of [
      [max + 0.01, 422],
      [max - 0.01, 201],
      [-0.001, 422],
      [0.01, 201],
    ] as const)
      expect((await create(own.call, { expiresAt: inDays(days) })).status, String(days)).toBe(status)
  })

  it.each(['\u202eevil', '<img src=x onerror=alert(1)>', 'größer "日本語" #1', '__proto__', "'; DROP"])(
    'keeps the name %j as it is',
    async (name) => {
      const { id } = await created(own.call, { name })
      expect(await find(own.call, id)).toMatchObject({ name })
    },
  )

  it('creates a token although its response is lost, which can be found and revoked', async () => {
    const org = await newOrganization()
    await new Promise<void>((resolve) => {
      const headers = { Authorization: `Bearer ${org.token}`, 'Content-Type': 'application/json' }
      const sent = request(`${inject('service')}/v1/tokens`, { method: 'POST', headers })
      sent.on('error', () => resolve())
      sent.on('close', () => resolve())
      sent.on('response', (response) => response.destroy())
      sent.end('{"name":"lost"}')
    })
    const lost = await vi.waitFor(async () => {
      const [newest] = await readAll(org.call, 100)
      expect(newest?.name).toBe('lost')
      return newest
    })
    expect((await revoke(org.call, lost?.id ?? '')).json.revokedAt).toMatch(/Z$/)
  })
})

/** Who is limited in every way. */
const LIMITS = {
  scopes: ['manage' as const, 'read' as const],
  agents: ['echo', 'counted'],
  tenantId: 'acme',
  rate: 500,
}

describe('a token that is limited', () => {
  let limited: ApiClient
  beforeAll(async () => {
    limited = await own.withLimits(LIMITS)
  })
  const WITHIN = { scopes: ['read'] }

  it('creates tokens with its own limits by default', async () => {
    const { agents, tenantId, rate } = LIMITS
    expect(await created(limited, WITHIN)).toMatchObject({ scopes: ['read'], agents, tenantId, rate })
  })

  it('creates tokens that may do less', async () => {
    const less = { scopes: ['manage', 'read'], agents: ['echo'], tenantId: 'acme', rate: 499 }
    expect(await created(limited, less)).toMatchObject(less)
    const id = agentIdOf(own.id, 'echo')
    expect(await created(limited, { ...WITHIN, agents: [id.toUpperCase()] })).toMatchObject({ agents: [id] })
  })

  it.each<[string, object, string]>([
    ['the default scopes, of which it lacks one', { scopes: undefined }, '/scopes'],
    ['a scope that it lacks', { scopes: ['run'] }, '/scopes'],
    ['a scope that it lacks among its own', { scopes: ['manage', 'approve', 'read'] }, '/scopes'],
    ['all agents', { agents: null }, '/agents'],
    ['another agent', { agents: ['three-steps'] }, '/agents'],
    ['another agent among its own', { agents: ['echo', 'counted', 'three-steps'] }, '/agents'],
    ['the ID of another agent', { agents: [agentIdOf(system.newId(), 'echo')] }, '/agents'],
    ['no tenant', { tenantId: null }, '/tenantId'],
    ['another tenant', { tenantId: 'globex' }, '/tenantId'],
    ['a tenant that looks similar', { tenantId: 'ACME' }, '/tenantId'],
    ['a tenant with a space', { tenantId: 'acme ' }, '/tenantId'],
    ['no rate', { rate: null }, '/rate'],
    ['a higher rate', { rate: 501 }, '/rate'],
  ])('cannot grant %s', async (_, body, pointer) => {
    const before = await readAll(own.call, 100)
    const { status, json } = await create(limited, { ...WITHIN, ...body })
    expect([status, json.code, json.errors?.map(({ path }: { path: string }) => path)]).toEqual([
      ...[403, 'Forbidden'],
      [pointer],
    ])
    expect(await readAll(own.call, 100)).toHaveLength(before.length)
  })

  it('is told everything that would be more at once', async () => {
    const all = { scopes: SCOPES, agents: null, tenantId: null, rate: null }
    const { json } = await create(limited, all)
    expect(json.errors).toHaveLength(4)
    expect(json.detail).toContain('scopes of your token: manage, read')
  })

  it('cannot grant more by a chain of tokens', async () => {
    const { token } = await created(limited, { scopes: ['manage'], rate: 10 })
    const second = clientOf(token)
    for (const more of [{ scopes: ['read'] }, { rate: 11 }, { rate: null }])
      expect((await create(second, { scopes: ['manage'], ...more })).status).toBe(403)
    const third = clientOf((await created(second, { scopes: ['manage'], agents: ['echo'] })).token)
    expect((await create(third, { scopes: ['manage'], agents: ['counted'] })).status).toBe(403)
  })

  it('that expires can replace itself, and creates none that lives longer', async () => {
    const scopes = ['manage']
    const { token } = await created(own.call, { scopes, expiresAt: inDays(1) })
    const expiring = clientOf(token)
    for (const expiresAt of [null, inDays(1.01), inDays(3_649)]) {
      const { status, json } = await create(expiring, { scopes, expiresAt })
      expect([status, json.errors?.[0].path]).toEqual([403, '/expiresAt'])
      expect(json.detail).toContain('must be at most 20')
    }
    const lifetimes = []
    for (const body of [{ scopes }, { scopes, expiresAt: inDays(1) }, { scopes, expiresAt: inDays(0.5) }]) {
      const { createdAt, expiresAt } = await created(expiring, body)
      lifetimes.push((Date.parse(expiresAt) - Date.parse(createdAt)) / DAY_MS)
    }
    expect(Math.max(...lifetimes)).toBeLessThanOrEqual(1)
    expect(lifetimes).toEqual([1, 1, 0.5].map((days) => expect.closeTo(days, 3)))
  })

  it('sees and revokes only tokens within its agents and its tenant', async () => {
    const org = await newOrganization()
    const id = agentIdOf(org.id, 'echo')
    const within = [
      { scopes: ['run'], agents: ['echo'], tenantId: 'acme' },
      { agents: [id], tenantId: 'acme', expiresAt: null },
      { agents: ['counted', 'echo'], tenantId: 'acme' },
    ]
    const beyond = [
      { agents: ['echo'] },
      { agents: ['echo'], tenantId: 'globex' },
      { tenantId: 'acme' },
      { agents: ['three-steps'], tenantId: 'acme' },
      { agents: ['echo', 'three-steps'], tenantId: 'acme' },
      {},
    ]
    const [visible, hidden]: [string[], string[]] = [[], []]
    for (let i = 0; i < beyond.length; i++) {
      hidden.unshift((await created(org.call, beyond[i])).id)
      if (i < within.length) visible.unshift((await created(org.call, within[i])).id)
    }
    const bound = await org.withLimits(LIMITS)
    const { tokenId } = (await bound('GET', '/v1/me')).json
    for (const limit of [1, 2, 100])
      expect((await readAll(bound, limit)).map((token) => token.id)).toEqual([tokenId, ...visible])
    const missing = comparable(await revoke(bound, system.newId()))
    for (const token of hidden) {
      expect(comparable(await revoke(bound, token))).toEqual(missing)
      expect(comparable(await revoke(bound, token, 60))).toEqual(
        comparable(await revoke(bound, system.newId(), 60)),
      )
      expect(await find(org.call, token)).toMatchObject({ revokedAt: null })
    }
    for (const token of visible) expect((await revoke(bound, token)).status).toBe(200)
  })

  it('gets cursors that name no token that it may not see', async () => {
    const org = await newOrganization()
    const mine: string[] = []
    const others: string[] = []
    for (let i = 0; i < 6; i++) {
      for (let n = 0; n < 3; n++) others.push((await created(org.call, { tenantId: 'theirs' })).id)
      mine.unshift((await created(org.call, { tenantId: 'acme' })).id)
    }
    const bound = await org.withLimits({ tenantId: 'acme' })
    mine.unshift((await bound('GET', '/v1/me')).json.tokenId)
    for (const limit of [1, 2, 3]) {
      const seen: string[] = []
      let link: string | undefined = `/v1/tokens?limit=${limit}`
      while (link) {
        const page: ApiResponse = await bound('GET', link)
        seen.push(...page.json.map(({ id }: Listed) => id))
        link = getNextLink(page)
        const cursor = new URL(link ?? '', 'http://x').searchParams.get('cursor') ?? ''
        for (const id of others) expect(`${Buffer.from(cursor, 'base64url')}`).not.toContain(id)
      }
      expect(seen).toEqual(mine)
    }
  })
})

describe('DELETE /v1/tokens/{tokenId}', () => {
  it('revokes once: the time stays', async () => {
    const { id, token } = await created(own.call)
    const call = clientOf(token)
    expect((await call('GET', '/v1/agents')).status).toBe(200)
    const first = await revoke(own.call, id)
    expect(first.json).toMatchObject({ id, revokedAt: expect.stringMatching(/Z$/) })
    expect(first.text).not.toContain(token.slice(4))
    const again = await Promise.all([revoke(own.call, id.toUpperCase()), revoke(own.call, id, 60)])
    // Its use may be recorded meanwhile.
    for (const { status, json } of again)
      expect([status, { ...json, lastUsedAt: null }]).toEqual([200, { ...first.json, lastUsedAt: null }])
    await expect.poll(async () => (await call('GET', '/v1/agents')).status).toBe(401)
  })

  it('lets a token revoke itself', async () => {
    const { id, token } = await created(own.call, { scopes: ['manage'] })
    const call = clientOf(token)
    expect((await revoke(call, id)).status).toBe(200)
    await expect.poll(async () => (await call('GET', '/v1/tokens')).status).toBe(401)
  })

  it.each([
    ['does not expire', null],
    ['expires later', inDays(80)],
    ['expires before', inDays(0.02)],
  ])('ends a token that %s after a time, and never later', async (_, expiresAt) => {
    const { id } = await created(own.call, { expiresAt })
    const before = Date.now()
    const { status, json } = await revoke(own.call, id, 3_600)
    expect([status, json.revokedAt]).toEqual([200, null])
    const end = Date.parse(json.expiresAt)
    if (expiresAt !== null && Date.parse(expiresAt) < before + 3_600_000)
      expect(end).toBe(Date.parse(expiresAt))
    else {
      expect(end).toBeGreaterThanOrEqual(before + 3_600_000)
      expect(end).toBeLessThanOrEqual(Date.now() + 3_600_000)
    }
    expect((await revoke(own.call, id, 7_200)).json.expiresAt).toBe(json.expiresAt)
    const sooner = (await revoke(own.call, id, 60)).json.expiresAt
    expect(Date.parse(sooner)).toBeLessThan(end)
    expect((await revoke(own.call, id, MAX_OVERLAP_SECONDS)).json.expiresAt).toBe(sooner)
  })

  it('ends a token at the earliest of the times that several ask for', async () => {
    const { id } = await created(own.call)
    const seconds = [600, 60, 6_000, 60_000, 300]
    const ends = await Promise.all(seconds.map((each) => revoke(own.call, id, each)))
    const earliest = ends.map(({ json }) => Date.parse(json.expiresAt)).sort((a, b) => a - b)[0]
    const stored = Date.parse((await find(own.call, id))?.expiresAt ?? '')
    expect(stored).toBe(earliest)
    expect(stored - Date.now()).toBeLessThanOrEqual(60_000)
  })

  it('is valid during the overlap, and not after it', async () => {
    const { id, token } = await created(own.call)
    const call = clientOf(token)
    await revoke(own.call, id, 1)
    expect((await call('GET', '/v1/agents')).status).toBe(200)
    await expect.poll(async () => (await call('GET', '/v1/agents')).status, { timeout: 5_000 }).toBe(401)
    expect(await find(own.call, id)).toMatchObject({ revokedAt: null })
  })

  it.each(['0', '-1', '1.5', '1e3', '', 'soon', String(MAX_OVERLAP_SECONDS + 1), '60&afterSeconds=61'])(
    'rejects afterSeconds=%s',
    async (text) => {
      const { id } = await created(own.call)
      const { status, json } = await own.call('DELETE', `/v1/tokens/${id}?afterSeconds=${text}`)
      expect([status, json.code, json.errors[0].path]).toEqual([
        ...[400, 'InvalidQueryParameter', 'afterSeconds'],
      ])
      expect(await find(own.call, id)).toMatchObject({ revokedAt: null })
    },
  )

  it('finds no token of another organization, and nothing that is no token', async () => {
    const { id } = await created(own.call)
    const missing = comparable(await revoke(other.call, system.newId()))
    for (const each of [id, 'x', '%00', '%2F', `${id}%20`, agentIdOf(own.id, 'echo'), own.id, '..%2Fagents'])
      expect(comparable(await revoke(other.call, each)), each).toEqual(missing)
    expect(await find(own.call, id)).toMatchObject({ revokedAt: null })
  })
})

describe('GET /v1/tokens', () => {
  it.each(['limit=0', 'limit=101', 'cursor=x', 'tenantId=acme', 'name=ci'])('rejects %s', async (query) => {
    const { status, json } = await own.call('GET', `/v1/tokens?${query}`)
    expect([status, json.code]).toEqual([400, 'InvalidQueryParameter'])
  })

  it('shows the hour of the last use', async () => {
    const { id, token } = await created(own.call)
    expect(await find(own.call, id)).toMatchObject({ lastUsedAt: null })
    await clientOf(token)('GET', '/v1/me')
    expect(await find(own.call, id)).toMatchObject({
      lastUsedAt: expect.stringMatching(/T\d\d:00:00\.000Z$/),
    })
  })
})

describe('a person who has signed in at the identity provider', () => {
  const handlers = localHandlers()

  it('with the scope manage creates tokens', async () => {
    const organizationId = system.newId()
    const tokenId = '0d3c6b3e-8a53-5c1e-9c2b-5a1f0e6d7c48'
    const authorizer = {
      ...{ organizationId, tokenId, tokenName: 'Ada', subject: 'auth0%7C1' },
      ...{ scopes: 'read,manage', expiresAt: String(Math.floor(Date.now() / 1_000) + 600) },
    }
    const invoke = async (body: object) => {
      const event = {
        ...{ resource: '/v1/tokens', path: '/v1/tokens', httpMethod: 'POST', body: JSON.stringify(body) },
        ...{ headers: { 'Content-Type': 'application/json' }, multiValueHeaders: {}, pathParameters: null },
        ...{ requestContext: { requestId: 'r', path: '/v1/tokens', authorizer }, isBase64Encoded: false },
      }
      const result = (await handlers['create-token'](event as never, {})) as APIGatewayProxyResult
      const { statusCode, body: text } = result
      return { status: statusCode, json: JSON.parse(text) }
    }
    const { status, json } = await invoke({ name: 'of Ada', scopes: ['read'] })
    expect([status, json.createdBy]).toEqual([201, tokenId])
    expect((await clientOf(json.token)('GET', '/v1/me')).json).toMatchObject({ organizationId })
    expect((await invoke({ name: 'more', scopes: ['run'] })).status).toBe(403)
    for (const [expiresAt, expected] of [
      [null, 403],
      [inDays(366.1), 403],
      [inDays(366), 201],
    ])
      expect((await invoke({ name: 'long', scopes: ['read'], expiresAt })).status).toBe(expected)
  })
})
