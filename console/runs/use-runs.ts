import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { timeOfId } from '../../lib/core/ids.ts'
import { type Page, requestPage } from '../api/request.ts'
import { type List, useList } from '../api/use-list.ts'
import { credentials } from '../state/session.ts'
import { type Filters, isSearch, toApiRequest } from './filters.ts'
import { dropRuns, findUnknown, mergeNewest, patchRuns, type Run, sortRuns } from './run-list.ts'

const PAGE_SIZE = 100
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

/** `asOf`: the time of the service when it was asked last, in milliseconds since the epoch. */
type Request = ReturnType<typeof toApiRequest> & { isSearch: boolean; asOf: number }

const toRequest = (filters: Filters): Request => ({
  ...toApiRequest(filters, Date.now()),
  isSearch: isSearch(filters),
  asOf: Number.NaN,
})

/** Lists that were left, so that going back shows them as they were. By the key of the history entry. */
const left = new Map<string, Pick<RunsView, 'items' | 'next' | 'fresh' | 'searched'> & { request: Request }>()
credentials.subscribe(() => left.clear())

export type RunsView = List<Run> & {
  /** Newer than the first one of the list, and not shown yet. */
  fresh: Run[]
  /** Null unless the filters are a search. */
  searched: Searched | null
  showFresh: () => void
}

/** Runs that match the filters, newest first, kept up to date. @param historyKey of the entry of the history */
export function useRuns(filters: Filters, historyKey: string | undefined): RunsView {
  const [restored] = useState(() => (historyKey === undefined ? undefined : left.get(historyKey)))
  const [fresh, setFresh] = useState(restored?.fresh ?? [])
  const request = useRef(restored?.request ?? toRequest(filters))
  const searched = useRef(restored?.searched ?? null)
  const polls = useRef({ count: 0, changes: 0, quiet: 0 })
  const list = useList<Run>('/v1/agent_executions', {
    query: filters,
    isSearch: isSearch(filters),
    restored,
    load,
    poll: { everyMs: () => 3_000, read: (_, signal) => poll(signal) },
  })
  const latest = useRef({ list, fresh })
  latest.current = { list, fresh }

  async function load(next: URLSearchParams | null, signal: AbortSignal) {
    if (!next) {
      request.current = toRequest(filters)
      searched.current = null
      setFresh([])
    }
    const { path, query, isSearch } = request.current
    const page = await requestPage<Run>(path, { query: next ?? { ...query, limit: PAGE_SIZE }, signal })
    if (signal.aborted) return page
    if (!next) request.current.asOf = timeOf(page)
    searched.current = isSearch ? addSearched(next && searched.current, page) : null
    return page
  }

  async function poll(signal: AbortSignal): Promise<number> {
    const { current } = polls
    const isBusy = () => latest.current.list.isLoading
    if (isBusy() || latest.current.list.error) return current.changes
    const asked = request.current
    const newest = await requestNewest(asked, ++current.count % FULL_POLLS === 0, signal)
    const listed = [...latest.current.fresh, ...latest.current.list.items]
    const isQuiet = current.quiet > QUIET_POLLS && current.quiet % 2 === 1
    const open = isQuiet ? [] : findUnknown(listed, newest.items)
    const refreshed = await refreshOpen(asked, open, signal)
    if (signal.aborted || isBusy()) return current.changes
    const merged = mergeNewest(listed, newest.items, newest.next === null)
    if (merged.hasGap) list.reload()
    asked.asOf = newest.asOf
    const update = (runs: Run[]) =>
      dropRuns(patchRuns(runs, [...newest.items, ...refreshed.runs]), refreshed.gone)
    const hasChanged = merged.fresh.length > 0 || update(listed) !== listed
    current.quiet = hasChanged ? 0 : current.quiet + 1
    if (!hasChanged || merged.hasGap) return current.changes
    list.update(update)
    setFresh((last) => [...merged.fresh, ...update(last)])
    return ++current.changes
  }

  useEffect(
    () => () => {
      if (historyKey === undefined) return
      const { fresh, list } = latest.current
      const { items, next } = list
      left.set(historyKey, { items, next, fresh, searched: searched.current, request: request.current })
    },
    [historyKey],
  )
  const showFresh = useCallback(() => {
    list.update((runs) => sortRuns([...latest.current.fresh, ...runs]))
    setFresh([])
  }, [])
  return { ...list, fresh, searched: searched.current, showFresh }
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
