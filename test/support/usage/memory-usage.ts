import type { UsagePosition, UsageStore } from '../../../lib/core/ports/usage.ts'
import type { UsageInterval, UsageKey, UsageRow, UsageTotals } from '../../../lib/core/usage.ts'

/** A row with one run. */
export const aUsageRow = (values: Partial<UsageKey & UsageTotals> = {}): UsageRow => ({
  ...{ tenantId: null, agentId: 'agent', versionId: 'version', model: null, tokenId: null },
  ...{ runs: 1, cacheHits: 0, errors: {}, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
  ...{ cacheWriteTokens: 0, reasoningTokens: 0, webSearches: 0, costNanoUsd: 0, childCostNanoUsd: 0 },
  ...{ unpricedRuns: 0, runTimeMs: 0, unjudgedRuns: 0, unjudgedErrors: 0 },
  ...{ uncomparedRuns: 0, uncomparedCostNanoUsd: 0 },
  ...values,
})

/** Totals of intervals in memory, for tests that need a position of their own. `reads`: what was read. */
export function memoryUsage(position: UsagePosition | null = null) {
  const totals = new Map<string, Map<number, UsageRow[]>>()
  const reads: { interval: UsageInterval; from: number; to: number }[] = []
  const slotsOf = (organizationId: string, interval: UsageInterval) => {
    const id = `${organizationId} ${interval}`
    const slots = totals.get(id) ?? new Map<number, UsageRow[]>()
    totals.set(id, slots)
    return slots
  }
  return {
    reads,
    put: (organizationId: string, interval: UsageInterval, start: number, rows: UsageRow[]) =>
      slotsOf(organizationId, interval).set(start, rows),
    getPosition: async () => position,
    async *read({ organizationId, interval, from, to }) {
      reads.push({ interval, from, to })
      const slots = [...slotsOf(organizationId, interval)].sort(([a], [b]) => a - b)
      for (const [start, rows] of slots) if (start >= from && start < to) yield { start, rows }
    },
  } satisfies Pick<UsageStore, 'read' | 'getPosition'> & Record<string, unknown>
}
