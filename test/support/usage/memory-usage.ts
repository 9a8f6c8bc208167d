import type { UsagePosition, UsageStore } from '../../../lib/core/ports/usage.ts'
import { NO_SCORES } from '../../../lib/core/score-statistics.ts'
import {
  DIMENSION_FIELDS,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageInterval,
  type UsageKey,
  type UsageRow,
  type UsageTotals,
} from '../../../lib/core/usage.ts'

/** A row with one run. */
export const aUsageRow = (values: Partial<UsageKey & UsageTotals> = {}): UsageRow => ({
  ...{ tenantId: null, agentId: 'agent', versionId: 'version', model: null, tokenId: null, scorer: null },
  ...{ scores: NO_SCORES, runs: 1, cacheHits: 0, errors: {} },
  ...{
    inputTokens: 0,
    outputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
    webSearches: 0,
    costNanoUsd: 0,
    childCostNanoUsd: 0,
  },
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

/** The sums of rows that agree in these dimensions, without the sums of the service. */
export function sumUsage(
  rows: UsageRow[],
  dimensions: readonly UsageDimension[] = USAGE_DIMENSIONS,
): UsageRow[] {
  const groups = Map.groupBy(rows, (row) =>
    JSON.stringify(dimensions.map((name) => row[DIMENSION_FIELDS[name]])),
  )
  return [...groups.values()].map((group) => {
    const [first] = group as [UsageRow]
    const fields = dimensions.map((name) => DIMENSION_FIELDS[name])
    // Rows of a store have it, groups do not.
    const scorer = dimensions === USAGE_DIMENSIONS && { scorer: null }
    const key = { ...scorer, ...Object.fromEntries(fields.map((field) => [field, first[field]])) }
    const numbers = Object.entries(first).filter(([, value]) => typeof value === 'number')
    const sumOf = (name: string) => group.reduce((sum, row) => sum + Number(row[name as keyof UsageRow]), 0)
    const sums = numbers.map(([name]) => [name, sumOf(name)])
    const errors: Record<string, number> = {}
    for (const [code, count] of group.flatMap((row) => Object.entries(row.errors)))
      errors[code] = (errors[code] ?? 0) + count
    return { ...key, ...Object.fromEntries(sums), errors, scores: NO_SCORES } as UsageRow
  })
}
