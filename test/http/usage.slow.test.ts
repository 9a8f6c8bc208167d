import { beforeAll, describe, expect, it } from 'vitest'
import { INTERVAL_MS, startOf } from '../../lib/core/usage.ts'
import { usageStore } from '../../lib/dynamodb/usage-store.ts'
import { system } from '../../lib/system.ts'
import { newOrganization, sharedTable } from '../support/engine/organization.ts'
import { aUsageRow } from '../support/usage/memory-usage.ts'

/** The last full minute, which the sweeper of the shared service can count again: without runs, it writes nothing. */
const minute = startOf('minute', Date.now()) - INTERVAL_MS.minute
const hour = new Date(startOf('hour', minute)).toISOString().replace('.000Z', 'Z')

const own = await newOrganization()

describe('GET /v1/usage', () => {
  beforeAll(async () => {
    const rows = ['acme', 'globex', null].flatMap((tenantId) => [
      aUsageRow({ tenantId, agentId: system.newId(), costNanoUsd: 1_500_000, inputTokens: 10 }),
      aUsageRow({ tenantId, agentId: system.newId(), errors: { AgentFailed: 1 } }),
    ])
    const slot = { interval: 'minute', start: minute, isFinal: false, readAt: Date.now() } as const
    await usageStore(sharedTable()).put({ ...slot, organizationId: own.id, rows })
  })

  it('is a row for each interval, without runs an empty list', async () => {
    const { status, json, headers } = await own.call('GET', '/v1/usage')
    expect([status, headers.get('link')]).toEqual([200, null])
    expect(headers.get('content-type')).toBe('application/json')
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

  it.each([
    ['text/csv', 'text/csv; charset=utf-8; header=present'],
    ['*/*', 'application/json'],
  ])('responds to Accept: %s with %s', async (Accept, type) => {
    for (const method of ['GET', 'HEAD']) {
      const options = { headers: { Accept } }
      const { status, headers, text } = await own.call(method, '/v1/usage?groupBy=tenant', options)
      expect([status, headers.get('content-type')]).toEqual([200, type])
      expect(headers.get('vary')).toMatch(/\bAccept\b(?!-)/)
      expect(text === '').toBe(method === 'HEAD')
    }
  })
})
