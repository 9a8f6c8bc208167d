import { beforeAll, describe, expect, it } from 'vitest'
import { INTERVAL_MS, startOf, type UsageRow } from '../../lib/core/usage.ts'
import { usageStore } from '../../lib/dynamodb/usage-store.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { type ApiClient, getNextLink } from '../support/service/client.ts'
import { aUsageRow } from '../support/usage/memory-usage.ts'

const CSV = { headers: { Accept: 'text/csv' } }

/** The last full minute, which the sweeper of the shared service can count again: without runs, it writes nothing. */
const minute = startOf('minute', Date.now()) - INTERVAL_MS.minute
const hour = new Date(startOf('hour', minute)).toISOString().replace('.000Z', 'Z')

const slot = { interval: 'minute', start: minute, isFinal: false } as const
const putUsage = ({ id: organizationId }: TestOrganization, rows: UsageRow[]) =>
  usageStore(sharedTable()).put({ ...slot, organizationId, rows, readAt: Date.now() })

async function withUsage(rows: UsageRow[]): Promise<TestOrganization> {
  const organization = await newOrganization()
  await putUsage(organization, rows)
  return organization
}

/** The bodies of all pages. */
async function pages(call: ApiClient, path: string, options = {}): Promise<string[]> {
  const texts: string[] = []
  for (let next: string | undefined = path; next; ) {
    const response = await call('GET', next, options)
    expect(response.status, response.text).toBe(200)
    texts.push(response.text)
    next = getNextLink(response)
  }
  return texts
}

describe('GET /v1/usage', () => {
  let own: TestOrganization
  let echo: string
  let counted: string
  beforeAll(async () => {
    own = await newOrganization()
    echo = (await own.publish('echo')).agentId
    counted = (await own.publish('counted')).agentId
    const rows = ['acme', 'globex', null].flatMap((tenantId) => [
      aUsageRow({ tenantId, agentId: echo, costNanoUsd: 1_500_000, inputTokens: 10 }),
      aUsageRow({ tenantId, agentId: counted, errors: { AgentFailed: 1 } }),
    ])
    await putUsage(own, rows)
  })

  it('is a row for each interval, without runs an empty list', async () => {
    const { status, json, headers } = await own.call('GET', '/v1/usage')
    expect([status, headers.get('content-type'), headers.get('link')]).toEqual([
      200,
      'application/json',
      null,
    ])
    expect(headers.get('vary')).toContain('Accept')
    expect(json).toEqual([
      {
        start: hour,
        ...{ runs: 6, cacheHits: 0, errors: { AgentFailed: 3 }, inputTokens: 30, outputTokens: 0 },
        ...{ cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, webSearches: 0 },
        ...{ costUsd: 0.0045, childCostUsd: 0, unpricedRuns: 0, runTimeMs: 0 },
      },
    ])
    const { call } = await newOrganization()
    expect((await call('GET', '/v1/usage')).json).toEqual([])
  })

  it('is grouped in the given order, by day, hour or minute, filtered by tenant and agent', async () => {
    for (const [interval, start] of [
      ['day', `${hour.slice(0, 10)}T00:00:00Z`],
      ['hour', hour],
      ['minute', new Date(minute).toISOString().replace('.000Z', 'Z')],
    ]) {
      const path = `/v1/usage?interval=${interval}&groupBy=tenant,agent&tenantId=acme&agent=echo`
      const { json } = await own.call('GET', path)
      expect(json).toEqual([expect.objectContaining({ start, tenantId: 'acme', agentId: echo, runs: 1 })])
      expect(Object.keys(json[0]).slice(0, 4)).toEqual(['start', 'tenantId', 'agentId', 'runs'])
    }
    const { json } = await own.call('GET', '/v1/usage?groupBy=agent,tenant&tenantId=acme')
    expect(json.map(({ agentId }: { agentId: string }) => agentId)).toEqual([counted, echo].sort())
    expect((await own.call('GET', '/v1/usage?groupBy=&tenantId=globex')).json[0].runs).toBe(2)
  })

  it('shows a token what belongs to its tenant and its agents', async () => {
    const call = await own.withLimits({ tenantId: 'acme', agents: ['echo'] })
    const groups = async (path: string) =>
      (await call('GET', path)).json.map(({ tenantId, agentId }: UsageRow) => [tenantId, agentId])
    expect(await groups('/v1/usage?groupBy=tenant,agent')).toEqual([['acme', echo]])
    expect(await groups('/v1/usage?groupBy=tenant,agent&tenantId=acme')).toEqual([['acme', echo]])
    expect((await call('GET', '/v1/usage')).json[0].runs).toBe(1)
    expect((await call('GET', '/v1/usage?tenantId=globex')).json.code).toBe('Forbidden')
    expect((await call('GET', '/v1/usage?agent=counted')).json.code).toBe('AgentNotFound')
    const csv = await call('GET', '/v1/usage?groupBy=tenant', CSV)
    expect(csv.text.split('\r\n')).toHaveLength(3)
  })

  it('shows another organization nothing, whatever it names', async () => {
    const other = await newOrganization()
    const first = await own.call('GET', '/v1/usage?groupBy=tenant&limit=1')
    const cursor = new URL(getNextLink(first) ?? '', 'http://x').searchParams.get('cursor')
    for (const query of ['', '?groupBy=tenant,agent', '?tenantId=acme', `?groupBy=tenant&cursor=${cursor}`])
      expect((await other.call('GET', `/v1/usage${query}`)).json, query).toEqual([])
    for (const agent of [echo, 'echo'])
      expect((await other.call('GET', `/v1/usage?agent=${agent}`)).json.code).toBe('AgentNotFound')
  })

  it.each([
    ['text/csv', 'text/csv; charset=utf-8; header=present'],
    ['text/csv;q=0.9, */*;q=0.1', 'text/csv; charset=utf-8; header=present'],
    ['*/*', 'application/json'],
    ['text/csv;q=0.5, application/json', 'application/json'],
    ['image/png', 'application/json'],
  ])('responds to Accept: %s with %s', async (Accept, type) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, text } = await own.call(method, '/v1/usage?groupBy=tenant', {
        headers: { Accept },
      })
      expect([status, headers.get('content-type')]).toEqual([200, type])
      expect(headers.get('vary')).toMatch(/\bAccept\b(?!-)/)
      expect(text === '').toBe(method === 'HEAD')
    }
  })

  it('describes errors as problem details, also to clients that prefer CSV', async () => {
    const { status, headers } = await own.call('GET', '/v1/usage?interval=week', CSV)
    expect([status, headers.get('content-type')]).toEqual([400, 'application/problem+json'])
  })

  const GROUPS =
    'groupBy must be a list of tenant, agent, version, model and token, separated by commas, each at most once.'
  const LIMIT = 'limit must be an integer from 1 to 1000.'
  it.each([
    ['groupBy=tenants', 'groupBy', GROUPS],
    ['groupBy=tenant,tenant', 'groupBy', GROUPS],
    ['groupBy=tenant,', 'groupBy', GROUPS],
    ['groupBy=tenants,agents', 'groupBy', GROUPS],
    ['groupBy=tenant,%20agent', 'groupBy', GROUPS],
    ['groupBy=tenant&groupBy=agent', 'groupBy', 'groupBy must be given only once.'],
    ['interval=week', 'interval', 'interval must be minute, hour or day.'],
    ['limit=0', 'limit', LIMIT],
    ['limit=1001', 'limit', LIMIT],
    ['limit=1e2', 'limit', LIMIT],
    [
      'from=yesterday',
      'from',
      'from must be a date and time with a time zone, such as 2026-11-22T09:30:00Z.',
    ],
    ['to=2026-11-22', 'to', 'to must be a date and time with a time zone, such as 2026-11-22T09:30:00Z.'],
    ['from=2026-11-22T09:30:00Z&to=2026-11-22T09:30:00Z', 'from', 'from must be before to.'],
    ['from=2000-01-01T00:00:00Z', 'from', 'from must be within the last 100 days with interval=hour.'],
    ['tenantId=', 'tenantId', 'tenantId must have 1 to 128 characters and no control characters.'],
    ['agent=', 'agent', 'agent must not be empty.'],
    ['agentId=echo', 'agentId', 'agentId is not a parameter of this route; did you mean agent?'],
    ['cursor=x', 'cursor', 'cursor must be taken, unchanged, from the "next" link of the previous page.'],
  ])('rejects %s', async (query, path, message) => {
    const { status, json } = await own.call('GET', `/v1/usage?${query}`)
    expect([status, json.code]).toEqual([400, 'InvalidQueryParameter'])
    expect(json.errors).toEqual([{ path, message }])
  })

  it('accepts the smallest and the largest page', async () => {
    for (const limit of [1, 1000])
      expect((await own.call('GET', `/v1/usage?groupBy=tenant&limit=${limit}`)).json.length).toBe(
        Math.min(limit, 3),
      )
  })

  it('links to the next page of the same times, as JSON and as CSV', async () => {
    const path = '/v1/usage?groupBy=tenant&limit=2'
    const link = getNextLink(await own.call('GET', path)) ?? ''
    const query = new URL(link, 'http://x').searchParams
    expect([query.get('groupBy'), query.get('limit')]).toEqual(['tenant', '2'])
    for (const name of ['from', 'to']) expect(query.get(name)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00:00Z$/)
    const json = (await pages(own.call, path)).flatMap((text) => JSON.parse(text))
    expect(json.map(({ tenantId }) => tenantId)).toEqual([null, 'acme', 'globex'])
    const csv = await pages(own.call, path, CSV)
    expect(csv.map((text) => text.split('\r\n').length)).toEqual([4, 3])
  })
})

describe('GET /v1/usage of many tenants', () => {
  it('returns each of 10,000 groups once, in pages of 1,000', async () => {
    const tenants = Array.from({ length: 10_000 }, (_, index) => `tenant-${String(index).padStart(5, '0')}`)
    const { call } = await withUsage(tenants.map((tenantId) => aUsageRow({ tenantId })))
    const found = (await pages(call, '/v1/usage?groupBy=tenant')).map((text) => JSON.parse(text))
    expect(found.map(({ length }) => length)).toEqual(Array(10).fill(1_000))
    expect(found.flat().map(({ tenantId }) => tenantId)).toEqual(tenants)
  })

  it('writes CSV that is read as what the tenants are called, and executes nothing', async () => {
    const tenants = ['a,b', 'a"b', "'quoted'", '=1+1', '@SUM(A1)', '+1', '-1', '😀,"=1"', 'ä;ö', ' x ']
    const { call } = await withUsage(tenants.map((tenantId) => aUsageRow({ tenantId })))
    const { text } = await call('GET', '/v1/usage?groupBy=tenant', CSV)
    const fields = text
      .split('\r\n')
      .slice(1, -1)
      .map((line) => line.slice(hour.length + 1, line.indexOf(',1,0,0,"{}",')))
    const guarded = ["''quoted'", "'=1+1", "'@SUM(A1)", "'+1", "'-1"]
    const plain = ['a,b', 'a""b', '😀,""=1""', 'ä;ö', ' x ']
    expect(fields.sort()).toEqual([...guarded, ...plain].map((field) => `"${field}"`).sort())
    for (const tenant of tenants) {
      const { json } = await call('GET', `/v1/usage?tenantId=${encodeURIComponent(tenant)}&groupBy=tenant`)
      expect(json).toEqual([expect.objectContaining({ tenantId: tenant, runs: 1 })])
    }
  })
})
