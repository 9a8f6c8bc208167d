import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ExecutionSummaryRecord } from '../../lib/api/schemas/execution-record.ts'
import type { ApiError } from '../api/api-error.ts'
import { type Page, requestPage } from '../api/request.ts'
import { asApiError, usePolling } from '../api/use-resource.ts'
import { credentials } from '../state/session.ts'
import { type Filters, toApiRequest } from './filters.ts'

const PAGE_SIZE = 100
/** Runs that one poll asks for. */
const NEWEST = 50
/** Runs in progress outside of the newest page that one poll refreshes. */
const MAX_REFRESHED = 10

type State = {
  runs: Run[]
  /** Newer than the first of `runs`, and not shown yet. */
  fresh: Run[]
  /** Null: the list is complete. */
  next: URLSearchParams | null
  isLoading: boolean
  error: ApiError | null
}

const EMPTY: State = { runs: [], fresh: [], next: null, isLoading: true, error: null }

/** Lists that were left, so that going back shows them as they were. By the key of the history entry. */
const left = new Map<string, { state: State; request: ReturnType<typeof toApiRequest> }>()
credentials.subscribe(() => left.clear())

export type RunsView = State & {
  loadMore: () => void
  showFresh: () => void
  reload: () => void
  /** False while polls fail. */
  isLive: boolean
}

/**
 * Runs that match the filters, newest first, a page at a time. They are kept up to date while the page is visible.
 * @param historyKey of the entry of the browser's history, if it is known
 */
export function useRuns(filters: Filters, historyKey: string | undefined): RunsView {
  const [restored] = useState(() => (historyKey === undefined ? undefined : left.get(historyKey)))
  const [state, setState] = useState<State>(restored?.state ?? EMPTY)
  const [round, setRound] = useState(0)
  const controller = useRef(new AbortController())
  const latest = useRef(state)
  latest.current = state
  const request = useRef(restored?.request ?? toApiRequest(filters, Date.now()))
  const isBusy = useRef(false)

  const load = useCallback(async (query: URLSearchParams | null) => {
    if (isBusy.current) return
    isBusy.current = true
    const { signal } = controller.current
    setState((last) => ({ ...last, isLoading: true, error: null }))
    try {
      const { path, query: first } = request.current
      let page: Page<Run> = { items: [], next: query }
      // A page can be empty although others follow.
      do page = await requestPage<Run>(path, { query: page.next ?? { ...first, limit: PAGE_SIZE }, signal })
      while (page.items.length === 0 && page.next)
      setState((last) => ({
        ...last,
        runs: appendRuns(query ? last.runs : [], page.items),
        next: page.next,
        isLoading: false,
      }))
    } catch (error) {
      if (!signal.aborted) setState((last) => ({ ...last, isLoading: false, error: asApiError(error) }))
    } finally {
      if (controller.current.signal === signal) isBusy.current = false
    }
  }, [])

  const key = JSON.stringify(filters)
  const isFirst = useRef(restored !== undefined)
  useEffect(() => {
    controller.current = new AbortController()
    isBusy.current = false
    if (isFirst.current) isFirst.current = false
    else {
      request.current = toApiRequest(filters, Date.now())
      setState(EMPTY)
      void load(null)
    }
    return () => controller.current.abort()
  }, [key, round])

  useEffect(
    () => () => {
      if (historyKey !== undefined) left.set(historyKey, { state: latest.current, request: request.current })
    },
    [historyKey],
  )

  const poll = useCallback(async () => {
    if (isBusy.current || latest.current.error) return
    const { signal } = controller.current
    const { path, query } = request.current
    const newest = await requestPage<Run>(path, { query: { ...query, limit: NEWEST }, signal })
    const { runs, fresh } = latest.current
    const refreshed = await refresh(path, findUnknown(runs, newest.items, MAX_REFRESHED), signal)
    if (signal.aborted || isBusy.current) return
    const listed = [...fresh, ...runs]
    const merged = mergeNewest(listed, newest.items, newest.next === null)
    if (merged.hasGap) return setRound((last) => last + 1)
    setState((last) => ({
      ...last,
      runs: patchRuns(patchRuns(last.runs, newest.items), refreshed),
      fresh: [...merged.fresh, ...patchRuns(last.fresh, newest.items)],
    }))
  }, [])
  const isLive = usePolling(poll, key)

  const loadMore = useCallback(() => {
    if (latest.current.next) void load(latest.current.next)
  }, [])
  const showFresh = useCallback(
    () => setState((last) => ({ ...last, runs: [...last.fresh, ...last.runs], fresh: [] })),
    [],
  )
  const reload = useCallback(() => setRound((last) => last + 1), [])
  return { ...state, loadMore, showFresh, reload, isLive }
}

/** The state of single runs without their payloads: a list of the millisecond in which each one was created. */
async function refresh(path: string, runs: Run[], signal: AbortSignal): Promise<Run[]> {
  const pages = await Promise.all(
    runs.map(({ createdAt }) => {
      const to = new Date(Date.parse(createdAt) + 1).toISOString()
      return requestPage<Run>(path, { query: { from: createdAt, to, fields: 'summary', limit: 100 }, signal })
    }),
  )
  return pages.flatMap(({ items }) => items)
}

export type Run = ExecutionSummaryRecord

/** Adds an older page. Runs that are listed already are skipped. */
export function appendRuns(runs: Run[], page: Run[]): Run[] {
  const known = new Set(runs.map(({ id }) => id))
  return [...runs, ...page.filter(({ id }) => !known.has(id))]
}

/**
 * Compares a list with its newest page. `fresh`: runs that are not listed yet. `patched`: the list with the page's
 * state of those that are. `hasGap`: there may be more runs between the page and the list, which has to be loaded
 * again.
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
function patchRuns(runs: Run[], latest: Run[]): Run[] {
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
