import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution.ts'
import { formatTime, isCancelled } from '../components/format.ts'
import type { Outcome } from '../components/small-charts.tsx'

export type Run = ExecutionSummaryRecord

/**
 * Compares a list with its newest page. `fresh`: runs that are not listed yet. `hasGap`: there may be more runs between
 * the page and the list, which has to be loaded again.
 */
export function mergeNewest(
  runs: Run[],
  page: Run[],
  isLastPage: boolean,
): { fresh: Run[]; hasGap: boolean } {
  const known = new Set(runs.map(({ id }) => id))
  const fresh = page.filter(({ id }) => !known.has(id))
  const hasGap = runs.length > 0 && page.length > 0 && fresh.length === page.length && !isLastPage
  return { fresh, hasGap }
}

/** The list with the latest state of some of its runs; the list itself if nothing changes. */
export function patchRuns(runs: Run[], latest: Run[]): Run[] {
  const byId = new Map(latest.map((run) => [run.id, run]))
  let hasChanged = false
  const patched = runs.map((run) => {
    const update = byId.get(run.id)
    if (!update || isSame(run, update)) return run
    hasChanged = true
    return update
  })
  return hasChanged ? patched : runs
}

const isSame = (a: Run, b: Run) =>
  a.status === b.status &&
  a.steps === b.steps &&
  a.startedAt === b.startedAt &&
  a.finishedAt === b.finishedAt &&
  (a.waitingFor === null) === (b.waitingFor === null)

/** Runs in progress that a page says nothing about: they are older than the page, or have just ended. */
export function findUnknown(runs: Run[], page: Run[]): Run[] {
  const known = new Set(page.map(({ id }) => id))
  return runs.filter(({ id, status }) => status === 'IN_PROGRESS' && !known.has(id))
}

/** The list itself if none of them is in it. */
export const dropRuns = (runs: Run[], ids: Set<string>): Run[] =>
  runs.some(({ id }) => ids.has(id)) ? runs.filter(({ id }) => !ids.has(id)) : runs

export const sortRuns = (runs: Run[]): Run[] => runs.toSorted((a, b) => (a.id < b.id ? 1 : -1))

export function toOutcome({ status, error, createdAt }: Run): Outcome {
  const time = formatTime(createdAt)
  if (isCancelled(error?.code)) return { state: 'none', text: `${time}: cancelled` }
  if (status === 'IN_PROGRESS') return { state: 'open', text: `${time}: in progress` }
  return status === 'SUCCESS'
    ? { state: 'success', text: `${time}: success` }
    : { state: 'error', text: `${time}: ${error?.code ?? 'error'}` }
}
