import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ExecutionSummaryRecord } from '../../lib/contract/records/execution-record.ts'
import { timeOfId } from '../../lib/core/ids.ts'
import type { ApiError } from '../api/api-error.ts'
import { type Page, requestPage } from '../api/request.ts'
import { append } from '../api/use-list.ts'
import { asApiError, usePolling } from '../api/use-resource.ts'
import { credentials } from '../state/session.ts'
import { type Filters, isSearch, toApiRequest } from './filters.ts'

const PAGE_SIZE = 100
/** Runs that one poll asks for. */
const NEWEST = 50
/** Polls ask for what is newer than the one before, and for a little more: an index lags, and clocks differ. */
const OVERLAP_MS = 60_000
/** One in so many polls asks for the newest runs: those of a batch have the time of the batch. */
const FULL_POLLS = 5
/** Runs that have ended, of which one poll asks how. */
const MAX_ENDED = 10
/** After so many polls without a change, runs in progress are refreshed with every other one. */
const QUIET_POLLS = 6

/** How far the service has looked for what no index has. `until`: ISO 8601. */
export type Searched = { runs: number; until: string | null }

type State = {
  runs: Run[]
  /** Newer than the first of `runs`, and not shown yet. */
  fresh: Run[]
  /** Null: the list is complete. */
  next: URLSearchParams | null
  /** Null unless the filters are a search. */
  searched: Searched | null
  isLoading: boolean
  error: ApiError | null
}

const EMPTY: State = { runs: [], fresh: [], next: null, searched: null, isLoading: true, error: null }

/** `asOf`: the time of the service when it was asked last, in milliseconds since the epoch. */
type Request = ReturnType<typeof toApiRequest> & { isSearch: boolean; asOf: number }

const toRequest = (filters: Filters): Request => ({
  ...toApiRequest(filters, Date.now()),
  isSearch: isSearch(filters),
  asOf: Number.NaN,
})

/** Lists that were left, so that going back shows them as they were. By the key of the history entry. */
const left = new Map<string, { state: State; request: Request }>()
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
  const request = useRef(restored?.request ?? toRequest(filters))
  const isBusy = useRef(false)
  const polls = useRef({ count: 0, changes: 0, quiet: 0 })

  const load = useCallback(async (query: URLSearchParams | null) => {
    if (isBusy.current) return
    isBusy.current = true
    const { signal } = controller.current
    setState((last) => ({ ...last, isLoading: true, error: null }))
    try {
      const { path, query: first, isSearch } = request.current
      let next = query
      let page: Page<Run> & Answer
      // A page can be empty although others follow. How far a search looks is for its user to say.
      do {
        page = await requestPage<Run>(path, { query: next ?? { ...first, limit: PAGE_SIZE }, signal })
        next = page.next
      } while (page.items.length === 0 && next && !isSearch)
      if (!query) request.current.asOf = timeOf(page)
      setState((last) => ({
        ...last,
        runs: append(query ? last.runs : [], page.items),
        next: page.next,
        searched: isSearch ? addSearched(query && last.searched, page) : null,
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
      request.current = toRequest(filters)
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

  const poll = useCallback(async (): Promise<number> => {
    const { current } = polls
    if (isBusy.current || latest.current.error) return current.changes
    const { signal } = controller.current
    const asked = request.current
    const newest = await requestNewest(asked, ++current.count % FULL_POLLS === 0, signal)
    const listed = [...latest.current.fresh, ...latest.current.runs]
    const isQuiet = current.quiet > QUIET_POLLS && current.quiet % 2 === 1
    const open = isQuiet ? [] : findUnknown(listed, newest.items)
    const refreshed = await refreshOpen(asked, open, signal)
    if (signal.aborted || isBusy.current) return current.changes
    const merged = mergeNewest(listed, newest.items, newest.next === null)
    if (merged.hasGap) setRound((last) => last + 1)
    asked.asOf = newest.asOf
    const update = (runs: Run[]) =>
      dropRuns(patchRuns(runs, [...newest.items, ...refreshed.runs]), refreshed.gone)
    const hasChanged = merged.fresh.length > 0 || update(listed) !== listed
    current.quiet = hasChanged ? 0 : current.quiet + 1
    if (!hasChanged || merged.hasGap) return current.changes
    setState((last) => ({
      ...last,
      runs: update(last.runs),
      fresh: [...merged.fresh, ...update(last.fresh)],
    }))
    return ++current.changes
  }, [])
  const isLive = usePolling(poll, key)

  const loadMore = useCallback(() => {
    if (latest.current.next) void load(latest.current.next)
  }, [])
  const showFresh = useCallback(
    () => setState((last) => ({ ...last, runs: sortRuns([...last.fresh, ...last.runs]), fresh: [] })),
    [],
  )
  const reload = useCallback(() => setRound((last) => last + 1), [])
  return { ...state, loadMore, showFresh, reload, isLive }
}

type Answer = { headers: Headers }

/** The time of the service; NaN if something between has removed it. */
const timeOf = ({ headers }: Answer) => Date.parse(headers.get('Date') ?? '')

function addSearched(last: Searched | null, { headers }: Answer): Searched {
  const runs = Number(headers.get('X-Searched-Executions') ?? 0)
  return {
    runs: (last?.runs ?? 0) + runs,
    until: headers.get('X-Searched-Until') ?? last?.until ?? null,
  }
}

type Newest = Pick<Page<Run>, 'items' | 'next'> & { asOf: number }

/** What is newer than the last time: nothing, mostly, which costs less than the newest runs. */
async function requestNewest(request: Request, isFull: boolean, signal: AbortSignal): Promise<Newest> {
  const { path, query, asOf, isSearch } = request
  const isComplete = (isFull && !isSearch) || Number.isNaN(asOf)
  const from = isComplete ? query.from : toIso(Math.max(asOf - OVERLAP_MS, Date.parse(query.from || EPOCH)))
  if (from && query.to && Date.parse(from) >= Date.parse(query.to)) return { items: [], next: null, asOf }
  const page = await requestPage<Run>(path, { query: { ...query, from, limit: NEWEST }, signal })
  return { items: page.items, next: page.next, asOf: timeOf(page) }
}

const EPOCH = new Date(0).toISOString()
const toIso = (ms: number) => new Date(ms).toISOString()

/**
 * The state of runs that were in progress. One request says which of them still are; another one for each millisecond
 * in which others were created, without their payloads. `gone`: deleted meanwhile.
 */
async function refreshOpen(
  { path, query: { tenantId } }: Request,
  open: Run[],
  signal: AbortSignal,
): Promise<{ runs: Run[]; gone: Set<string> }> {
  if (open.length === 0) return { runs: [], gone: new Set() }
  const list = (from: number, to: number, status?: string) => {
    const query = { tenantId, status, from: toIso(from), to: toIso(to + 1), fields: 'summary', limit: 100 }
    return requestPage<Run>(path, { query, signal })
  }
  const times = open.map(({ id }) => timeOfId(id))
  const page = await list(Math.min(...times), Math.max(...times), 'IN_PROGRESS')
  const last = page.items.at(-1)
  const isListed = ({ id }: Run) => page.next === null || (last !== undefined && id >= last.id)
  const ended = findUnknown(open, page.items).filter(isListed)
  const endedTimes = [...new Set(ended.map(({ id }) => timeOfId(id)))].slice(0, MAX_ENDED)
  const pages = await Promise.all(endedTimes.map((time) => list(time, time)))
  const runs = [...page.items, ...pages.flatMap(({ items }) => items)]
  const found = new Set(runs.map(({ id }) => id))
  const isGone = ({ id }: Run) => !found.has(id) && pages[endedTimes.indexOf(timeOfId(id))]?.next === null
  return { runs, gone: new Set(ended.filter(isGone).map(({ id }) => id)) }
}

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
const dropRuns = (runs: Run[], ids: Set<string>): Run[] =>
  runs.some(({ id }) => ids.has(id)) ? runs.filter(({ id }) => !ids.has(id)) : runs

const sortRuns = (runs: Run[]): Run[] => runs.toSorted((a, b) => (a.id < b.id ? 1 : -1))
