import { describe, expect, inject, it } from 'vitest'
import { MAX_OVERLAP_SECONDS, type Scope } from '../../../lib/core/access.ts'
import { agentIdOf } from '../../../lib/core/ids.ts'
import { system } from '../../../lib/system.ts'
import { comparable } from '../../contract/world.ts'
import { newOrganization } from '../../support/engine/organization.ts'
import {
  type ApiClient,
  type ApiResponse,
  createClient,
  cursorsOf,
  idsOf,
  readPages,
} from '../../support/service/client.ts'
import { localCall } from '../../support/service/local-handlers.ts'

const DAY_MS = 86_400_000
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()

const [own, other] = [await newOrganization(), await newOrganization()]

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

const readAll = async (call: ApiClient, limit: number): Promise<ApiResponse['json'][]> =>
  (await readPages(call, `/v1/tokens?limit=${limit}`)).flatMap(({ json }) => json)

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

  it.each([
    ['no name', '{}', '/name'],
    ['a name of spaces', '{"name":"   "}', '/name'],
    ['a name with a line break', '{"name":"a\\nb"}', '/name'],
    ['a long name', `{"name":"${'x'.repeat(101)}"}`, '/name'],
    ['no scopes', '{"name":"a","scopes":[]}', '/scopes'],
    ['an unknown scope', '{"name":"a","scopes":["run","admin"]}', '/scopes/1'],
    ['a repeated scope', '{"name":"a","scopes":["run","run"]}', '/scopes'],
    ['no agents', '{"name":"a","agents":[]}', '/agents'],
    ['51 agents', `{"name":"a","agents":[${Array.from({ length: 51 }, (_, i) => `"a${i}"`)}]}`, '/agents'],
    ['an empty tenant', '{"name":"a","tenantId":""}', '/tenantId'],
    ['no rate', '{"name":"a","rate":0}', '/rate'],
    ['a high rate', '{"name":"a","rate":1001}', '/rate'],
    ['a past end', '{"name":"a","expiresAt":"2026-01-01T00:00:00Z"}', '/expiresAt'],
    ['a far end', '{"name":"a","expiresAt":"9999-12-31T23:59:59Z"}', '/expiresAt'],
    ['a text of its own', '{"name":"a","token":"aes_x"}', '/token'],
    ['a prototype', '{"name":"a","__proto__":{"scopes":["manage"]}}', '/__proto__'],
  ])('rejects %s, and creates nothing', async (_, raw, pointer) => {
    const { status, json } = await other.call('POST', '/v1/tokens', { raw })
    expect([status, json.code, json.errors?.[0].path]).toEqual([422, 'InputSchemaMismatch', pointer])
    expect(await readAll(other.call, 100)).toHaveLength(1)
  })
})

/** Who is limited in every way. */
const SCOPES: Scope[] = ['manage', 'read']
const LIMITS = { scopes: SCOPES, agents: ['echo', 'counted'], tenantId: 'acme', rate: 500 }

describe('a token that is limited', async () => {
  const limited = await own.withLimits(LIMITS)
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
      const pages = await readPages(bound, `/v1/tokens?limit=${limit}`)
      expect(pages.flatMap(({ json }) => idsOf(json))).toEqual(mine)
      for (const id of others) expect(cursorsOf(pages)).not.toContain(id)
    }
  })

  it.each<[string, object, string]>([
    ['the default scopes, of which it lacks one', { scopes: undefined }, '/scopes'],
    ['a scope that it lacks', { scopes: ['run'] }, '/scopes'],
    ['all agents', { agents: null }, '/agents'],
    ['another agent', { agents: ['three-steps'] }, '/agents'],
    ['no tenant', { tenantId: null }, '/tenantId'],
    ['another tenant', { tenantId: 'globex' }, '/tenantId'],
    ['no rate', { rate: null }, '/rate'],
    ['a higher rate', { rate: 501 }, '/rate'],
  ])('cannot grant %s', async (_, body, pointer) => {
    const before = await readAll(own.call, 100)
    const { status, json } = await create(limited, { ...WITHIN, ...body })
    expect([status, json.code, idsOf(json.errors, 'path')]).toEqual([403, 'Forbidden', [pointer]])
    expect(await readAll(own.call, 100)).toHaveLength(before.length)
  })

  it('sees and revokes only tokens within its agents and its tenant', async () => {
    const org = await newOrganization()
    const id = agentIdOf(org.id, 'echo')
    const tenantId = 'acme'
    const within = [
      { tenantId, agents: ['echo'], scopes: ['run'] },
      { tenantId, agents: [id], expiresAt: null },
      { tenantId, agents: ['counted', 'echo'] },
    ]
    const beyond = [
      ...[{}, { tenantId }, { agents: ['echo'] }, { agents: ['echo'], tenantId: 'globex' }],
      ...[['three-steps'], ['echo', 'three-steps']].map((agents) => ({ tenantId, agents })),
    ]
    const [visible, hidden]: [string[], string[]] = [[], []]
    for (let i = 0; i < beyond.length; i++) {
      hidden.unshift((await created(org.call, beyond[i])).id)
      if (i < within.length) visible.unshift((await created(org.call, within[i])).id)
    }
    const bound = await org.withLimits(LIMITS)
    const { tokenId } = (await bound('GET', '/v1/me')).json
    for (const limit of [1, 2, 100]) expect(idsOf(await readAll(bound, limit))).toEqual([tokenId, ...visible])
    const missing = comparable(await revoke(bound, system.newId()))
    const missingLater = comparable(await revoke(bound, system.newId(), 60))
    for (const token of hidden) {
      expect(comparable(await revoke(bound, token))).toEqual(missing)
      expect(comparable(await revoke(bound, token, 60))).toEqual(missingLater)
      expect(await find(org.call, token)).toMatchObject({ revokedAt: null })
    }
    for (const token of visible) expect((await revoke(bound, token)).status).toBe(200)
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
})

describe('a person who has signed in at the identity provider', () => {
  const callHere = localCall()

  it('with the scope manage creates tokens', async () => {
    const organizationId = system.newId()
    const tokenId = '0d3c6b3e-8a53-5c1e-9c2b-5a1f0e6d7c48'
    const limits = {
      ...{ tokenId, tokenName: 'Ada', subject: 'auth0%7C1' },
      ...{ scopes: 'read,manage', expiresAt: String(Math.floor(Date.now() / 1_000) + 600) },
    }
    const invoke = (body: object) => callHere('create-token', { organizationId, limits, body })
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
