import { beforeAll, describe, expect, it } from 'vitest'
import { INTERVAL_MS, startOf, type UsageRow } from '../../lib/core/usage.ts'
import { usageStore } from '../../lib/dynamodb/usage-store.ts'
import { newOrganization, sharedTable, type TestOrganization } from '../support/engine/organization.ts'
import { aUsageRow } from '../support/usage/memory-usage.ts'

const CSV = { headers: { Accept: 'text/csv' } }

/** The last full minute, which the sweeper of the shared service can count again: without runs, it writes nothing. */
const minute = startOf('minute', Date.now()) - INTERVAL_MS.minute
const hour = new Date(startOf('hour', minute)).toISOString().replace('.000Z', 'Z')

const slot = { interval: 'minute', start: minute, isFinal: false } as const
const putUsage = ({ id: organizationId }: TestOrganization, rows: UsageRow[]) =>
  usageStore(sharedTable()).put({ ...slot, organizationId, rows, readAt: Date.now() })

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

  it.each([
    ['text/csv', 'text/csv; charset=utf-8; header=present'],
    ['*/*', 'application/json'],
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

  it.each([
    ['from=2026-11-22T09:30:00Z&to=2026-11-22T09:30:00Z', 'from', 'from must be before to.'],
    ['from=2000-01-01T00:00:00Z', 'from', 'from must be within the last 100 days with interval=hour.'],
  ])('rejects %s', async (query, path, message) => {
    const { status, json } = await own.call('GET', `/v1/usage?${query}`)
    expect([status, json.code]).toEqual([400, 'InvalidQueryParameter'])
    expect(json.errors).toEqual([{ path, message }])
  })
})
