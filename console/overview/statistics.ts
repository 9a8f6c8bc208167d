import type { ExecutionSummaryRecord } from '../../lib/api/schemas/execution-record.ts'

type Run = ExecutionSummaryRecord

export type Totals = {
  runs: number
  succeeded: number
  failed: number
  cached: number
  inputTokens: number
  outputTokens: number
  /** US dollars; without runs whose model has no price. */
  costUsd: number
  /** Runs with model responses whose cost is unknown. */
  unpriced: number
}

export function sumUp(runs: Run[]): Totals {
  const count = (test: (run: Run) => boolean) => runs.filter(test).length
  const sum = (read: (run: Run) => number) => runs.reduce((total, run) => total + read(run), 0)
  return {
    runs: runs.length,
    succeeded: count(({ status }) => status === 'SUCCESS'),
    failed: count(({ status }) => status === 'ERROR'),
    cached: count(({ cached }) => cached),
    // A run that reuses a result has its usage, and spent nothing.
    inputTokens: sum(({ cached, usage }) => (cached ? 0 : usage.inputTokens)),
    outputTokens: sum(({ cached, usage }) => (cached ? 0 : usage.outputTokens)),
    costUsd: sum(costOf),
    unpriced: count(({ cached, steps, costUsd }) => !cached && steps > 0 && costUsd === null),
  }
}

export const costOf = ({ cached, costUsd }: Run): number => (cached ? 0 : (costUsd ?? 0))

export const tokensOf = ({ cached, usage }: Run): number =>
  cached ? 0 : usage.inputTokens + usage.outputTokens

/** Milliseconds from the first worker to the end. Null for a run that is not final, or that no worker has run. */
export function durationOf({ startedAt, finishedAt, cached }: Run): number | null {
  if (startedAt === null || finishedAt === null || cached) return null
  return Math.max(Date.parse(finishedAt) - Date.parse(startedAt), 0)
}

/** How often each error code occurs, most often first. */
export function countFailures(runs: Run[]): { code: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const { error } of runs) if (error) counts.set(error.code, (counts.get(error.code) ?? 0) + 1)
  return [...counts].map(([code, count]) => ({ code, count })).sort((a, b) => b.count - a.count)
}

/** The smallest value that at least this part of the values does not exceed (nearest rank); null without values. */
export function percentile(values: number[], part: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(Math.ceil(part * sorted.length) - 1, 0)] ?? null
}

type AgentTotals = Totals & { agentId: string; medianMs: number | null }

/** The totals of each agent, most runs first. */
export function sumUpByAgent(runs: Run[]): AgentTotals[] {
  return [...Map.groupBy(runs, ({ documentId }) => documentId)]
    .map(([agentId, ofAgent]) => ({
      ...sumUp(ofAgent),
      agentId,
      medianMs: percentile(durationsOf(ofAgent), 0.5),
    }))
    .sort((a, b) => b.runs - a.runs)
}

export const durationsOf = (runs: Run[]): number[] =>
  runs.map(durationOf).filter((duration) => duration !== null)

/** A part of a range, from `from` up to and without `to`. */
type Bucket<T> = { from: number; to: number; items: T[] }

/** Round lengths of time, in milliseconds. */
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const LENGTHS = [
  ...[1, 2, 5, 10, 15, 30].map((each) => each * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((each) => each * MINUTE),
  ...[1, 2, 4, 6, 12].map((each) => each * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((each) => each * DAY),
]

/** Groups items by their time (milliseconds since the epoch) into at most `max` parts of a round length. In order. */
export function bucketByTime<T>(items: T[], timeOf: (item: T) => number, max: number): Bucket<T>[] {
  if (items.length === 0) return []
  const times = items.map(timeOf)
  const [first, last] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))]
  const fits = (length: number) => Math.floor(last / length) - Math.floor(first / length) < max
  const length = LENGTHS.find(fits) ?? Math.ceil((last - first + 1) / max)
  const start = Math.floor(first / length) * length
  const count = Math.floor((last - start) / length) + 1
  const buckets = Array.from({ length: count }, (_, index): Bucket<T> => {
    const from = start + index * length
    return { from, to: from + length, items: [] }
  })
  for (const [index, item] of items.entries())
    buckets[Math.floor(((times[index] ?? 0) - start) / length)]?.items.push(item)
  return buckets
}

/** Limits of a histogram of durations in milliseconds, about three for each power of ten. */
const LIMITS = [10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 864e5]

/** Counts durations (milliseconds) between limits that grow, without the empty parts before and after them. */
export function histogram(durations: number[]): Bucket<number>[] {
  const limits = [0, ...LIMITS, Number.POSITIVE_INFINITY]
  const buckets = limits.slice(1).map((to, index): Bucket<number> => {
    const from = limits[index] ?? 0
    return { from, to, items: durations.filter((duration) => duration >= from && duration < to) }
  })
  const isFilled = ({ items }: Bucket<number>) => items.length > 0
  return buckets.slice(Math.max(buckets.findIndex(isFilled), 0), buckets.findLastIndex(isFilled) + 1)
}
