import type { UsageRowRecord as UsageRow } from '../../lib/contract/records/usage.ts'
import { countFailed } from '../../lib/core/usage-rows.ts'

const SUMS = [
  'runs',
  'cacheHits',
  'inputTokens',
  'outputTokens',
  'costUsd',
  'unpricedRuns',
  'runTimeMs',
] as const

/** `costUsd`: without runs whose model has no price. */
export type Totals = Record<(typeof SUMS)[number] | 'failed', number>

export function addUp(rows: UsageRow[]): Totals {
  const sum = (read: (row: UsageRow) => number) => rows.reduce((total, row) => total + read(row), 0)
  const sums = SUMS.map((name) => [name, sum((row) => row[name])])
  return { ...Object.fromEntries(sums), failed: sum(countFailed) }
}

export type Group<Key> = Totals & { key: Key }

/** The totals of each group: the highest cost first, then the most runs. */
export function addUpBy<Key>(rows: UsageRow[], keyOf: (row: UsageRow) => Key): Group<Key>[] {
  return [...Map.groupBy(rows, keyOf)]
    .map(([key, ofGroup]) => ({ key, ...addUp(ofGroup) }))
    .sort((a, b) => b.costUsd - a.costUsd || b.runs - a.runs)
}

/** How often each error code occurs, most often first. */
export function countErrors(rows: UsageRow[]): { code: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const { errors } of rows)
    for (const [code, count] of Object.entries(errors)) counts.set(code, (counts.get(code) ?? 0) + count)
  return [...counts].map(([code, count]) => ({ code, count })).sort((a, b) => b.count - a.count)
}

/** Milliseconds that a run took on average, without results from the cache; null without runs. */
export const averageRunTime = ({ runs, cacheHits, runTimeMs }: Totals): number | null =>
  runs > cacheHits ? runTimeMs / (runs - cacheHits) : null
