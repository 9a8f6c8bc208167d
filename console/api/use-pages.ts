import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from './api-error.ts'
import type { Page } from './request.ts'
import { asApiError } from './use-resource.ts'

type State<T> = {
  key: string
  items: T[]
  /** The query of the next page. Null: the list is complete. */
  next: URLSearchParams | null
  isLoading: boolean
  error: ApiError | null
}

type Pages<T> = Omit<State<T>, 'key'> & {
  loadMore: () => void
  reload: () => void
  /** Changes what is shown, for example after a poll. */
  update: (change: (items: T[]) => T[]) => void
}

/**
 * A list whose first page is loaded when the component appears, and again when `key` changes; further pages on request.
 * What is shown stays while it is loaded again.
 * @param load a page; the first one for null. Throws ApiError
 */
export function usePages<T>(
  key: string,
  load: (query: URLSearchParams | null, signal: AbortSignal) => Promise<Page<T>>,
): Pages<T> {
  const empty = { key, items: [], next: null, isLoading: true, error: null }
  const [state, setState] = useState<State<T>>(empty)
  const [round, setRound] = useState(0)
  const controller = useRef(new AbortController())

  const read = async (query: URLSearchParams | null) => {
    const { signal } = controller.current
    try {
      let page: Page<T> = { items: [], next: query }
      // A page can be empty although others follow.
      do page = await load(page.next, signal)
      while (page.items.length === 0 && page.next && !signal.aborted)
      if (signal.aborted) return
      setState((last) => ({
        ...{ key, next: page.next, isLoading: false, error: null },
        items: query ? [...last.items, ...page.items] : page.items,
      }))
    } catch (error) {
      if (!signal.aborted) setState((last) => ({ ...last, isLoading: false, error: asApiError(error) }))
    }
  }

  useEffect(() => {
    controller.current = new AbortController()
    setState((last) => (last.key === key ? { ...last, isLoading: true, error: null } : empty))
    void read(null)
    return () => controller.current.abort()
  }, [key, round])

  function loadMore() {
    if (state.isLoading || !state.next) return
    setState((last) => ({ ...last, isLoading: true, error: null }))
    void read(state.next)
  }
  const reload = useCallback(() => setRound((last) => last + 1), [])
  const update = useCallback(
    (change: (items: T[]) => T[]) => setState((last) => ({ ...last, items: change(last.items) })),
    [],
  )
  const shown = state.key === key ? state : empty
  return { ...shown, loadMore, reload, update }
}

/** A list with its newest items as they are now, for example after a poll: those that it did not have come first. */
export function mergeNewest<T extends { id: string }>(listed: T[], newest: T[]): T[] {
  const latest = new Map(newest.map((item) => [item.id, item]))
  const known = new Set(listed.map(({ id }) => id))
  return [...newest.filter(({ id }) => !known.has(id)), ...listed.map((item) => latest.get(item.id) ?? item)]
}
