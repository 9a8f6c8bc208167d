import { describe, expect, it } from 'vitest'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { system } from '../../lib/system.ts'
import { newOrganization } from '../support/engine/organization.ts'
import { idsOf, readPages } from '../support/service/client.ts'
import { tableOn } from '../support/tables/emulators.ts'

const { limits: store } = openStores(tableOn('dynamodb'))

const own = await newOrganization()
const { agentId } = await own.publish('echo')

const tenantPath = (id: string) => `/v1/tenants/${encodeURIComponent(id)}/limits`
const NONE = {
  ...{ maxOpenExecutions: null, maxRunsPerMinute: null, maxCostUsd: { day: null, month: null } },
  ...{ warnAt: null, queueWhenFull: false },
}
const ALL = {
  ...{ maxOpenExecutions: 10, maxRunsPerMinute: 60, maxCostUsd: { day: 0.5, month: 12.25 } },
  ...{ warnAt: 0.8, queueWhenFull: true },
}
const MONTH = expect.stringMatching(/^\d{4}-\d\d-01T00:00:00\.000Z$/)
const UNUSED = { spentUsd: { day: 0, month: 0 }, openExecutions: 0 }

describe('limits', () => {
  it.each([
    ['a tenant', tenantPath('acme'), { tenantId: 'acme' }],
    ['an agent', '/v1/agents/echo/limits', { agentId }],
  ])('of %s are set, read, replaced and deleted', async (_, path, subject) => {
    expect(await own.call('GET', path)).toMatchObject({ status: 404, json: { code: 'LimitsNotFound' } })
    const set = await own.call('PUT', path, { body: ALL })
    const updatedAt = expect.stringMatching(/^\d{4}-.*Z$/)
    const record = { ...subject, ...ALL, costCountedFrom: MONTH, updatedAt }
    expect([set.status, set.json]).toEqual([200, record])
    const read = await own.call('GET', path)
    expect([read.status, read.json]).toEqual([200, { ...record, ...UNUSED }])
    const replaced = await own.call('PUT', path, { body: { maxCostUsd: { month: 3 }, warnAt: null } })
    expect(replaced.json).toEqual({ ...record, ...NONE, maxCostUsd: { day: null, month: 3 } })
    const none = await own.call('PUT', path, { body: { maxCostUsd: null } })
    expect(none.json).toEqual({ ...record, ...NONE, costCountedFrom: null })
    expect((await own.call('DELETE', path)).status).toBe(204)
    for (const method of ['DELETE', 'GET'])
      expect(await own.call(method, path)).toMatchObject({ status: 404, json: { code: 'LimitsNotFound' } })
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
    ['{"maxCostUsd":5}', '/maxCostUsd', /JSON object with day and month/],
    ['{"maxCostUsd":{"day":0}}', '/maxCostUsd/day', /number from 0.000001 to 1000000, or null/],
    ['{"warnAt":0}', '/warnAt', /from 0.0001 to 1, or null/],
    ['{"queueWhenFull":null}', '/queueWhenFull', /true or false/],
    ['{"maxOpen":1}', '/maxOpen', /not a limit. Allowed fields: maxOpenExecutions, maxRunsPerMinute/],
    ['{"__proto__":{"maxOpenExecutions":1}}', '/__proto__', /not a limit/],
  ])('reject the body %s', async (body, pointer, message) => {
    const { status, json } = await own.call('PUT', tenantPath('wrong'), { raw: body })
    expect([status, json.code, json.errors?.[0].path]).toEqual([422, 'InputSchemaMismatch', pointer])
    expect(json.errors[0].message).toMatch(message)
    expect((await own.call('GET', tenantPath('wrong'))).status).toBe(404)
  })
})

it('the list of limits of a token that is limited to agents has only theirs', async () => {
  const org = await newOrganization()
  const echo = await org.publish('echo')
  const counted = await org.publish('counted')
  for (const slug of ['echo', 'counted']) await org.call('PUT', `/v1/agents/${slug}/limits`, { body: ALL })
  await org.call('PUT', tenantPath('acme'), { body: ALL })
  const both = await org.withLimits({ agents: ['echo', counted.agentId] })
  const one = await org.withLimits({ agents: ['echo'] })
  const listed = async (call: typeof one, query = '') =>
    idsOf((await call('GET', `/v1/limits${query}`)).json, 'agentId')
  const all = [echo.agentId, counted.agentId].sort()
  expect([await listed(both), await listed(one)]).toEqual([all, [echo.agentId]])
  expect([await listed(one, '?kind=tenant'), await listed(one, '?kind=agent')]).toEqual([[], [echo.agentId]])
  const pages = await readPages(both, '/v1/limits?limit=1')
  expect(pages.map(({ json }) => idsOf(json, 'agentId'))).toEqual(all.map((id) => [id]))
  for (const method of ['GET', 'PUT', 'DELETE']) {
    const response = await one(method, tenantPath('acme'), method === 'PUT' ? { body: ALL } : {})
    expect([response.status, response.json.code]).toEqual([403, 'Forbidden'])
  }
})

it('GET /v1/me shows a token that is bound to a tenant what is left of its limits', async () => {
  const org = await newOrganization()
  const bound = await org.withLimits({ tenantId: 'acme' })
  const limitsOf = async (call = bound) => (await call('GET', '/v1/me')).json.limits
  expect([await limitsOf(), await limitsOf(org.call)]).toEqual([null, null])
  await org.call('PUT', tenantPath('acme'), { body: ALL })
  const left = { openExecutions: 10, costUsd: ALL.maxCostUsd }
  expect(await limitsOf()).toEqual({ ...ALL, updatedAt: expect.any(String), costCountedFrom: MONTH, left })
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
