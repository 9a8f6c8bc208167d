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

export type AgentTotals = Totals & { agentId: string; medianMs: number | null }

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
