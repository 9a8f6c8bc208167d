import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError } from './api-error.ts'
import { watchAttention } from './attention.ts'
import { createPoller } from './poller.ts'

/** What a request has led to so far. `data` stays while it is loaded again. */
type Resource<T> = {
  data: T | null
  error: ApiError | null
  isLoading: boolean
  /** False while polls fail. */
  isLive: boolean
  reload: () => void
  /** Replaces the data, for example by the response of a change. */
  setData: (data: T) => void
}

type Poll<T> = {
  /** Null: nothing changes by itself. By default, the shortest interval. @param data null: it has not arrived */
  everyMs?: (data: T | null) => number | null
  /** What can change. By default, all of it. */
  watch?: (data: T) => unknown
}

/**
 * Loads data when the component appears, and when `key` changes. The key names everything that `load` depends on.
 * @param load throws ApiError
 * @param poll keeps it up to date
 */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  poll: Poll<T> = { everyMs: () => null },
): Resource<T> {
  const [state, setState] = useState<{
    key: string
    data: T | null
    error: ApiError | null
    isLoading: boolean
  }>({ key, data: null, error: null, isLoading: true })
  const [round, setRound] = useState(0)
  const controller = useRef(new AbortController())
  useEffect(() => {
    controller.current = new AbortController()
    const { signal } = controller.current
    setState((last) => ({ key, data: last.key === key ? last.data : null, error: null, isLoading: true }))
    load(signal).then(
      (data) => !signal.aborted && setState({ key, data, error: null, isLoading: false }),
      (error: unknown) =>
        !signal.aborted && setState((last) => ({ ...last, error: asApiError(error), isLoading: false })),
    )
    return () => controller.current.abort()
  }, [key, round])
  const reload = useCallback(() => setRound((last) => last + 1), [])
  const setData = useCallback((data: T) => setState((last) => ({ ...last, data, error: null })), [])
  const isCurrent = state.key === key
  const data = isCurrent ? state.data : null
  const everyMs = poll.everyMs?.(data)
  const isLive = usePolling(
    async () => {
      const { signal } = controller.current
      const latest = await load(signal)
      if (!signal.aborted) setData(latest)
      return poll.watch ? poll.watch(latest) : latest
    },
    `${key} ${everyMs}`,
    everyMs,
  )
  return {
    data,
    error: isCurrent ? state.error : null,
    isLoading: !isCurrent || state.isLoading,
    isLive,
    reload,
    setData,
  }
}

/** Errors of this page are shown like those of the service. */
export const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : new ApiError(error instanceof Error ? error.message : String(error), {
        status: -1,
        code: 'ConsoleError',
      })

/**
 * Calls a function every few seconds while the page is visible: less and less often while it fails, or reads the same
 * again and again; soon when the window gets the focus, or its user does something.
 * @param poll resolves to what it has read: nothing counts as the same
 * @param key starts again when it changes
 * @param intervalMs null: not at all
 * @returns whether the last call succeeded
 */
export function usePolling(poll: () => Promise<unknown>, key: string, intervalMs?: number | null): boolean {
  const [isLive, setIsLive] = useState(true)
  const latest = useRef(poll)
  latest.current = poll
  useEffect(() => {
    setIsLive(true)
    if (intervalMs === null) return
    const poller = createPoller({
      poll: () => latest.current(),
      onResult: setIsLive,
      ...(intervalMs && { intervalMs }),
    })
    const unwatch = watchAttention({ onUse: poller.wake, onHide: poller.pause })
    if (!document.hidden) poller.start()
    return () => {
      poller.pause()
      unwatch()
    }
  }, [key])
  return isLive
}
