import type { ExecutionSummaryRecord } from '../../lib/api/schemas/execution-record.ts'

export type Run = ExecutionSummaryRecord

/** Adds an older page. Runs that are listed already are skipped. */
export function appendRuns(runs: Run[], page: Run[]): Run[] {
  const known = new Set(runs.map(({ id }) => id))
  return [...runs, ...page.filter(({ id }) => !known.has(id))]
}

/**
 * Compares a list with its newest page. `fresh`: runs that are not listed yet. `patched`: the list with the page's state of
 * those that are. `hasGap`: there may be more runs between the page and the list, which has to be loaded again.
 */
export function mergeNewest(
  runs: Run[],
  page: Run[],
  isLastPage: boolean,
): { patched: Run[]; fresh: Run[]; hasGap: boolean } {
  const known = new Set(runs.map(({ id }) => id))
  const fresh = page.filter(({ id }) => !known.has(id))
  const hasGap = runs.length > 0 && page.length > 0 && fresh.length === page.length && !isLastPage
  return { patched: patchRuns(runs, page), fresh, hasGap }
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
  a.status === b.status && a.steps === b.steps && a.startedAt === b.startedAt && a.finishedAt === b.finishedAt

/** Runs in progress that a page says nothing about: they are older than the page, or have just ended. */
export function findUnknown(runs: Run[], page: Run[], max: number): Run[] {
  const known = new Set(page.map(({ id }) => id))
  return runs.filter(({ id, status }) => status === 'IN_PROGRESS' && !known.has(id)).slice(0, max)
}
