import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution.ts'

type Run = ExecutionSummaryRecord

/** Milliseconds from the first worker to the end. Null for a run that is not final, or that no worker has run. */
export const runTimeOf = ({ startedAt, finishedAt }: Pick<Run, 'startedAt' | 'finishedAt'>): number | null =>
  startedAt === null || finishedAt === null
    ? null
    : Math.max(Date.parse(finishedAt) - Date.parse(startedAt), 0)

/** The same; null for a copy of a cached result, which took no time. */
export const durationOf = (run: Run): number | null => (run.cached ? null : runTimeOf(run))

export const durationsOf = (runs: Run[]): number[] =>
  runs.map(durationOf).filter((duration) => duration !== null)

/** The smallest value that at least this part of the values does not exceed (nearest rank); null without values. */
export function percentile(values: number[], part: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(Math.ceil(part * sorted.length) - 1, 0)] ?? null
}
