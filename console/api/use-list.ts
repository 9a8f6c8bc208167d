import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Query } from '../state/location.ts'
import { type ApiError, asApiError } from './api-error.ts'
import { usePolling } from './poller.ts'
import { type Page, requestPage } from './request.ts'

type State<T> = {
  key: string
  items: T[]
  /** The query of the next page. Null: the list is complete. */
  next: URLSearchParams | null
  /** The value of the page that was loaded last. */
  note: string | undefined
  isLoading: boolean
  error: ApiError | null
}

export type List<T> = Pick<State<T>, 'items' | 'note' | 'isLoading' | 'error'> & {
  keyOf: (item: T) => string
  /** The query of a further page. Null: none is asked for. */
  next: URLSearchParams | null
  /** False while polls fail. */
  isLive: boolean
  loadMore: () => void
  reload: () => void
  /** Repeats what has failed. */
  retry: () => void
  /** Changes what is shown, for example after a change of an item. */
  update: (change: (items: T[]) => T[]) => void
  /** The same for all of it, whatever has failed before. */
  replace: (items: T[]) => void
}

/** `note`: what else there is to say about the list. */
type NotedPage<T> = Page<T> & { note?: string }

/** @param next null: the first page */
type Load<T> = (next: URLSearchParams | null, signal: AbortSignal) => Promise<NotedPage<T>>

type Poll<T> = {
  /** Null: nothing in the list changes by itself. Undefined: the shortest interval. */
  everyMs: (items: T[]) => number | null | undefined
  /** How many of the newest items, by default as many as a page has. */
  limit?: number
  /** Instead of reading the newest items. Resolves to what it has read. */
  read?: (list: List<T>, signal: AbortSignal) => Promise<unknown>
}

const OUTAGE_MS = 5_000

type Options<T> = {
  /** The query of the first page. What it names is the list: with another one, it is loaded again. */
  query?: Query
  keyOf?: (item: T) => string
  /** Loads all pages, one after the other. */
  isWhole?: boolean
  /** Its pages can be empty: how far it goes on is for its user to say. */
  isSearch?: boolean
  /** How the list was when its page was left. */
  restored?: Pick<State<T>, 'items' | 'next'> | undefined
  load?: Load<T>
  poll?: Poll<T>
}

/** A list whose first page is loaded when the component appears. What is shown stays while it is loaded again. */
export function useList<T>(path: string, options: Options<T> = {}): List<T> {
  const { query = {}, keyOf = idOf, isWhole = false, isSearch = false, poll } = options
  const first = (limit = query.limit) => ({ ...query, limit })
  const load: Load<T> =
    options.load ?? ((next, signal) => requestPage<T>(path, { query: next ?? first(), signal }))
  const key = `${path} ${JSON.stringify(query)}`
  const isRestored = useRef(options.restored !== undefined)
  const [state, setState] = useState<State<T>>(() => ({
    ...emptyOf<T>(key),
    ...(options.restored && { ...options.restored, isLoading: false }),
  }))
  const [round, setRound] = useState(0)
  const controller = useRef(new AbortController())

  /** @param from null: the first page, which replaces what is shown */
  async function read(from: URLSearchParams | null) {
    const { signal } = controller.current
    let page: NotedPage<T> = { items: [], next: from }
    let replaces = from === null
    let goesOn = false
    try {
      do {
        page = await load(page.next, signal)
        if (signal.aborted) return
        const { items, next, note } = page
        goesOn = next !== null && (isWhole || (items.length === 0 && !isSearch))
        // A page can be empty although others follow.
        if (goesOn && items.length === 0) continue
        const isLast = !goesOn
        const isNew = replaces
        setState((last) => ({
          ...{ key, next, note, isLoading: !isLast, error: null },
          items: append(isNew ? [] : last.items, items, keyOf),
        }))
        replaces = false
      } while (goesOn)
    } catch (error) {
      if (!signal.aborted) setState((last) => ({ ...last, isLoading: false, error: asApiError(error) }))
    }
  }

  useEffect(() => {
    controller.current = new AbortController()
    if (isRestored.current) isRestored.current = false
    else {
      setState((last) => (last.key === key ? { ...last, isLoading: true, error: null } : emptyOf(key)))
      void read(null)
    }
    return () => controller.current.abort()
  }, [key, round])

  const { items, next, note, isLoading, error } = state.key === key ? state : emptyOf<T>(key)
  const update = useCallback(
    (change: (items: T[]) => T[]) => setState((last) => ({ ...last, items: change(last.items) })),
    [],
  )
  const replace = useCallback((items: T[]) => setState((last) => ({ ...last, items, error: null })), [])
  const reload = useCallback(() => setRound((last) => last + 1), [])
  const loadMore = useCallback(() => {
    if (isLoading || !next) return
    setState((last) => ({ ...last, isLoading: true, error: null }))
    void read(next)
  }, [isLoading, next])
  const retry = next ? loadMore : reload
  const list = {
    ...{ items, note, isLoading, error, keyOf, next: isWhole ? null : next, isLive: true },
    ...{ loadMore, reload, retry, update, replace },
  }

  async function readNewest() {
    const { signal } = controller.current
    if (poll?.read) {
      const update: typeof list.update = (change) => signal.aborted || list.update(change)
      const replace: typeof list.replace = (items) => signal.aborted || list.replace(items)
      return poll.read({ ...list, update, replace }, signal)
    }
    const newest = await (poll?.limit
      ? requestPage<T>(path, { query: first(poll.limit), signal })
      : load(null, signal))
    if (!signal.aborted) update((listed) => mergeNewest(listed, newest.items, keyOf))
    return newest.items
  }
  // What could not be opened during an outage is tried again by itself.
  const isOut = error !== null && items.length === 0 && (error.status === 0 || error.status >= 500)
  const lookAgain = async () => {
    await load(null, controller.current.signal)
    reload()
  }
  usePolling(lookAgain, `${key} out ${isOut}`, isOut ? OUTAGE_MS : null)
  const everyMs = poll ? poll.everyMs(items) : null
  return { ...list, isLive: usePolling(readNewest, `${key} ${everyMs}`, everyMs) }
}

const emptyOf = <T>(key: string): State<T> => ({
  ...{ key, items: [], next: null, note: undefined, isLoading: true, error: null },
})

const idOf = (item: unknown): string => (item as { id: string }).id

/** An item that is created while pages are read can be on two of them. */
export function append<T>(items: T[], page: T[], keyOf: (item: T) => string = idOf): T[] {
  const known = new Set(items.map(keyOf))
  return [...items, ...page.filter((item) => !known.has(keyOf(item)))]
}

/** A list with its newest items as they are now, for example after a poll: those that it did not have come first. */
export function mergeNewest<T>(listed: T[], newest: T[], keyOf: (item: T) => string = idOf): T[] {
  const latest = new Map(newest.map((item) => [keyOf(item), item]))
  const known = new Set(listed.map(keyOf))
  return [
    ...newest.filter((item) => !known.has(keyOf(item))),
    ...listed.map((item) => latest.get(keyOf(item)) ?? item),
  ]
}
