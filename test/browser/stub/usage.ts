import type { UsageRowRecord } from '../../../lib/contract/records/usage.ts'
import type { UsageLimits } from '../../../lib/core/usage-limits.ts'

/** A row that is grouped by nothing. */
export const aUsageRow = (overrides: Partial<UsageRowRecord> = {}): UsageRowRecord => ({
  start: '2026-11-25T20:00:00Z',
  ...{ runs: 1, cacheHits: 0, errors: {}, inputTokens: 1_200, outputTokens: 85 },
  ...{ cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, webSearches: 0 },
  ...{ costUsd: 0.0004, childCostUsd: 0, unpricedRuns: 0, runTimeMs: 500 },
  ...overrides,
})

/** The limits of a tenant, as a list has them. */
export const aLimitsRecord = (tenantId: string, overrides: Partial<UsageLimits> = {}) => ({
  tenantId,
  ...{ maxOpenExecutions: 10, maxRunsPerMinute: 60, maxCostUsd: { day: 5, month: 100 }, warnAt: 0.8 },
  ...{ queueWhenFull: true, updatedAt: '2026-11-25T09:00:00.000Z' },
  ...overrides,
})
