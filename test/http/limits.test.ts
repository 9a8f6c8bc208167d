import { beforeAll, describe, expect, it } from 'vitest'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { system } from '../../lib/system.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { tableOn } from '../support/tables/emulators.ts'

const { limits: store } = openStores(tableOn('dynamodb'))

let own: TestOrganization
let agentId: string
beforeAll(async () => {
  own = await newOrganization()
  agentId = (await own.publish('echo')).agentId
})

const tenantPath = (id: string) => `/v1/tenants/${encodeURIComponent(id)}/limits`
const AGENT_PATH = '/v1/agents/echo/limits'
const NONE = {
  maxOpenExecutions: null,
  maxRunsPerMinute: null,
  maxCostUsd: { day: null, month: null },
  warnAt: null,
  queueWhenFull: false,
}
const ALL = {
  maxOpenExecutions: 10,
  maxRunsPerMinute: 60,
  maxCostUsd: { day: 0.5, month: 12.25 },
  warnAt: 0.8,
  queueWhenFull: true,
}
const UNUSED = { spentUsd: { day: 0, month: 0 }, openExecutions: 0 }

describe('limits', () => {
  it.each([
    ['a tenant', tenantPath('acme'), () => ({ tenantId: 'acme' })],
    ['an agent', AGENT_PATH, () => ({ agentId })],
  ])('of %s are set, read, replaced and deleted', async (_, path, subject) => {
    expect(await own.call('GET', path)).toMatchObject({ status: 404, json: { code: 'LimitsNotFound' } })
    const set = await own.call('PUT', path, { body: ALL })
    const record = { ...subject(), ...ALL, updatedAt: expect.stringMatching(/^\d{4}-.*Z$/) }
    expect([set.status, set.json]).toEqual([200, record])
    const read = await own.call('GET', path)
    expect([read.status, read.json]).toEqual([200, { ...record, ...UNUSED }])
    const replaced = await own.call('PUT', path, { body: { maxCostUsd: { month: 3 }, warnAt: null } })
    const cost = { day: null, month: 3 }
    expect(replaced.json).toEqual({ ...record, ...NONE, maxCostUsd: cost })
    expect((await own.call('PUT', path, { body: { maxCostUsd: null } })).json).toEqual({
      ...record,
      ...NONE,
    })
    expect((await own.call('DELETE', path)).status).toBe(204)
    for (const method of ['DELETE', 'GET'])
      expect(await own.call(method, path)).toMatchObject({ status: 404, json: { code: 'LimitsNotFound' } })
  })

  it('are those of the agent, whether it is named by its slug or by its ID', async () => {
    await own.call('PUT', AGENT_PATH, { body: { maxOpenExecutions: 7 } })
    const byId = await own.call('GET', `/v1/agents/${agentId}/limits`)
    expect(byId.json).toMatchObject({ agentId, maxOpenExecutions: 7 })
    const unknown = await own.call('PUT', '/v1/agents/unknown/limits', { body: {} })
    expect([unknown.status, unknown.json.code]).toEqual([404, 'AgentNotFound'])
    await own.call('DELETE', AGENT_PATH)
  })

  it('show what is used of them', async () => {
    await own.call('PUT', tenantPath('used'), { body: ALL })
    const key = { organizationId: own.id, subject: { kind: 'tenant' as const, id: 'used' } }
    const now = Date.now()
    await store.takeSlot({ ...key, max: 10, executionId: system.newId(), now })
    await store.addSpent({ ...key, at: now, costUsd: 0.07 })
    expect((await own.call('GET', tenantPath('used'))).json).toMatchObject({
      spentUsd: { day: 0.07, month: 0.07 },
      openExecutions: 1,
    })
  })

  it.each([
    ['{"maxOpenExecutions":0}', '/maxOpenExecutions', /integer from 1 to 10000, or null for no limit/],
    ['{"maxOpenExecutions":1.5}', '/maxOpenExecutions', /integer from 1/],
    ['{"maxOpenExecutions":"5"}', '/maxOpenExecutions', /integer from 1/],
    ['{"maxRunsPerMinute":60001}', '/maxRunsPerMinute', /integer from 1 to 60000/],
    ['{"maxRunsPerMinute":-1}', '/maxRunsPerMinute', /integer from 1/],
    ['{"maxCostUsd":5}', '/maxCostUsd', /JSON object with day and month/],
    ['{"maxCostUsd":{"day":0}}', '/maxCostUsd/day', /number from 0.000001 to 1000000, or null/],
    ['{"maxCostUsd":{"month":1000001}}', '/maxCostUsd/month', /number from 0.000001 to 1000000/],
    ['{"maxCostUsd":{"day":1e300}}', '/maxCostUsd/day', /number from/],
    ['{"maxCostUsd":{"week":1}}', '/maxCostUsd/week', /unknown. Allowed fields: day, month/],
    ['{"warnAt":0}', '/warnAt', /from 0.0001 to 1, or null/],
    ['{"warnAt":5e-324}', '/warnAt', /from 0.0001 to 1/],
    ['{"warnAt":1.01}', '/warnAt', /from 0.0001 to 1/],
    ['{"warnAt":"80%"}', '/warnAt', /from 0.0001 to 1/],
    ['{"queueWhenFull":null}', '/queueWhenFull', /true or false/],
    ['{"maxOpen":1}', '/maxOpen', /not a limit. Allowed fields: maxOpenExecutions, maxRunsPerMinute/],
    ['{"__proto__":{"maxOpenExecutions":1}}', '/__proto__', /not a limit/],
  ])('reject the body %s', async (body, pointer, message) => {
    const response = await own.call('PUT', tenantPath('wrong'), { raw: body })
    const { status, json } = response
    expect([status, json.code, json.errors?.[0].path]).toEqual([422, 'InputSchemaMismatch', pointer])
    expect(json.errors[0].message).toMatch(message)
    expect((await own.call('GET', tenantPath('wrong'))).status).toBe(404)
  })

  it.each([
    'a/b',
    'a%2Fb',
    '?#&=+ ;',
    '\u{1f600}'.repeat(128),
    'Müller & Söhne',
    '100%',
    '...',
    '\\',
    '\'"<script>',
    '__proto__',
    '\u202e',
    'ALL',
    'TENANT#x',
    `agent#${'x'.repeat(100)}`,
  ])('are set for the tenant %s, and listed', async (tenantId) => {
    const path = tenantPath(tenantId)
    const body = { maxOpenExecutions: 3 }
    expect((await own.call('PUT', path, { body })).json).toMatchObject({ tenantId, ...body })
    expect((await own.call('GET', path)).json).toMatchObject({ tenantId, ...body })
    const key = { organizationId: own.id, subject: { kind: 'tenant' as const, id: tenantId } }
    expect(await store.get(key)).toMatchObject(body)
    expect((await own.call('DELETE', path)).status).toBe(204)
    expect(await store.get(key)).toBeNull()
  })

  it('reject what cannot be the ID of a tenant', async () => {
    for (const id of ['%00', '%0A', 'x'.repeat(129), '%C2%85', '%FF', '%E0%80']) {
      const put = await own.call('PUT', `/v1/tenants/${id}/limits`, { body: {} })
      expect([put.status, put.json.code], id).toEqual([400, 'BadRequest'])
    }
    expect((await own.call('GET', '/v1/tenants/%00/limits')).status).toBe(404)
    expect((await own.call('DELETE', `/v1/tenants/${'x'.repeat(129)}/limits`)).status).toBe(404)
  })

  it('are not those of another organization', async () => {
    await own.call('PUT', tenantPath('shared'), { body: ALL })
    const other = await newOrganization()
    expect((await other.call('GET', tenantPath('shared'))).status).toBe(404)
    expect((await other.call('DELETE', tenantPath('shared'))).status).toBe(404)
    expect((await other.call('GET', '/v1/limits')).json).toEqual([])
    expect((await other.call('PUT', `/v1/agents/${agentId}/limits`, { body: ALL })).status).toBe(404)
  })
})

describe('the list of limits', () => {
  it('has those of agents, then those of tenants, page by page', async () => {
    const org = await newOrganization()
    const { agentId } = await org.publish('echo')
    const tenants = ['a', 'a/b', 'b', 'z'.repeat(128), '\u{1f600}'.repeat(128)]
    for (const id of [...tenants].reverse()) await org.call('PUT', tenantPath(id), { body: ALL })
    await org.call('PUT', AGENT_PATH, { body: {} })
    const readAll = async (query: string) => {
      const found: { tenantId?: string; agentId?: string }[] = []
      let path: string | undefined = `/v1/limits?${query}`
      while (path) {
        const { status, json, headers } = await org.call('GET', path)
        expect(status).toBe(200)
        found.push(...json)
        path = /<(?:https?:\/\/[^/]*)?([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
      }
      return found.map(({ tenantId, agentId }) => tenantId ?? agentId)
    }
    for (const limit of [1, 2, 100]) {
      expect(await readAll(`limit=${limit}`)).toEqual([agentId, ...tenants])
      expect(await readAll(`kind=tenant&limit=${limit}`)).toEqual(tenants)
      expect(await readAll(`kind=agent&limit=${limit}`)).toEqual([agentId])
    }
    for (const query of ['kind=token', 'limit=0', 'cursor=x', 'tenantId=a'])
      expect((await org.call('GET', `/v1/limits?${query}`)).json.code, query).toBe('InvalidQueryParameter')
  })

  it('has no page after a cursor of the other kind', async () => {
    const org = await newOrganization()
    await org.publish('echo')
    for (const path of [tenantPath('a'), AGENT_PATH]) await org.call('PUT', path, { body: ALL })
    const first = await org.call('GET', '/v1/limits?limit=1')
    const cursor = /cursor=([^&>]*)/.exec(first.headers.get('link') ?? '')?.[1]
    const { status, json } = await org.call('GET', `/v1/limits?kind=tenant&cursor=${cursor}`)
    expect([status, json.code]).toEqual([400, 'InvalidQueryParameter'])
    expect((await org.call('GET', `/v1/limits?kind=agent&cursor=${cursor}`)).json).toEqual([])
  })

  it('of a token that is limited to agents has only theirs', async () => {
    const org = await newOrganization()
    const echo = await org.publish('echo')
    const counted = await org.publish('counted')
    for (const slug of ['echo', 'counted']) await org.call('PUT', `/v1/agents/${slug}/limits`, { body: ALL })
    await org.call('PUT', tenantPath('acme'), { body: ALL })
    const both = await org.withLimits({ agents: ['echo', counted.agentId] })
    const one = await org.withLimits({ agents: ['echo'] })
    const idsOf = async (call: typeof one, query = '') =>
      (await call('GET', `/v1/limits${query}`)).json.map((each: { agentId: string }) => each.agentId)
    const all = [echo.agentId, counted.agentId].sort()
    expect([await idsOf(both), await idsOf(one)]).toEqual([all, [echo.agentId]])
    expect([await idsOf(one, '?kind=tenant'), await idsOf(one, '?kind=agent')]).toEqual([[], [echo.agentId]])
    const first = await both('GET', '/v1/limits?limit=1')
    expect(first.json).toMatchObject([{ agentId: all[0] }])
    const next = /<(?:https?:\/\/[^/]*)?([^>]*)>/.exec(first.headers.get('link') ?? '')?.[1] ?? ''
    const second = await both('GET', next)
    expect([second.json, second.headers.get('link')]).toMatchObject([[{ agentId: all[1] }], null])
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const response = await one(method, tenantPath('acme'), method === 'PUT' ? { body: ALL } : {})
      expect([response.status, response.json.code]).toEqual([403, 'Forbidden'])
    }
  })
})

describe('GET /v1/me', () => {
  it('shows a token that is bound to a tenant what is left of its limits', async () => {
    const org = await newOrganization()
    const bound = await org.withLimits({ tenantId: 'acme' })
    const limitsOf = async (call = bound) => (await call('GET', '/v1/me')).json.limits
    expect([await limitsOf(), await limitsOf(org.call)]).toEqual([null, null])
    await org.call('PUT', tenantPath('acme'), { body: ALL })
    const left = { openExecutions: 10, costUsd: ALL.maxCostUsd }
    expect(await limitsOf()).toEqual({ ...ALL, updatedAt: expect.any(String), left })
    expect(await limitsOf(org.call)).toBeNull()
    expect(await limitsOf(await org.withLimits({ tenantId: 'globex' }))).toBeNull()
    const key = { organizationId: org.id, subject: { kind: 'tenant' as const, id: 'acme' } }
    const now = Date.now()
    for (let n = 0; n < 3; n++) await store.takeSlot({ ...key, max: 10, executionId: system.newId(), now })
    await store.addSpent({ ...key, at: now, costUsd: 0.1 })
    await store.addSpent({ ...key, at: now, costUsd: 0.2 })
    expect((await limitsOf()).left).toEqual({ openExecutions: 7, costUsd: { day: 0.2, month: 11.95 } })
    await store.addSpent({ ...key, at: now, costUsd: 1 })
    expect((await limitsOf()).left.costUsd).toEqual({ day: 0, month: 10.95 })
    await org.call('PUT', tenantPath('acme'), { body: { maxOpenExecutions: 2, maxCostUsd: { day: 5 } } })
    expect((await limitsOf()).left).toEqual({ openExecutions: 0, costUsd: { day: 3.7, month: null } })
    await org.call('PUT', tenantPath('acme'), { body: {} })
    expect((await limitsOf()).left).toEqual({ openExecutions: null, costUsd: { day: null, month: null } })
  })
})
