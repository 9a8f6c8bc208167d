import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution-record.ts'
import { runTimeOf } from '../components/values.tsx'

type Run = ExecutionSummaryRecord

/** Milliseconds, without results from the cache. */
export const durationOf = (run: Run): number | null => (run.cached ? null : runTimeOf(run))

export const durationsOf = (runs: Run[]): number[] =>
  runs.map(durationOf).filter((duration) => duration !== null)

/** The smallest value that at least this part of the values does not exceed (nearest rank); null without values. */
export function percentile(values: number[], part: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(Math.ceil(part * sorted.length) - 1, 0)] ?? null
}
