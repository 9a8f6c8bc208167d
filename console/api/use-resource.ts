import { useCallback, useEffect, useState } from 'preact/hooks'
import { ApiError } from './api-error.ts'

/** What a request has led to so far. `data` stays while it is loaded again. */
type Resource<T> = {
  data: T | null
  error: ApiError | null
  isLoading: boolean
  reload: () => void
  /** Replaces the data, for example by the response of a change. */
  setData: (data: T) => void
}

/**
 * Loads data when the component appears, and when `key` changes. The key names everything that `load` depends on.
 * @param load throws ApiError
 */
export function useResource<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const [state, setState] = useState<{
    key: string
    data: T | null
    error: ApiError | null
    isLoading: boolean
  }>({ key, data: null, error: null, isLoading: true })
  const [round, setRound] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    setState((last) => ({ key, data: last.key === key ? last.data : null, error: null, isLoading: true }))
    load(controller.signal).then(
      (data) => !controller.signal.aborted && setState({ key, data, error: null, isLoading: false }),
      (error: unknown) =>
        !controller.signal.aborted &&
        setState((last) => ({ ...last, error: asApiError(error), isLoading: false })),
    )
    return () => controller.abort()
  }, [key, round])
  const reload = useCallback(() => setRound((last) => last + 1), [])
  const setData = useCallback((data: T) => setState((last) => ({ ...last, data })), [])
  const isCurrent = state.key === key
  return {
    data: isCurrent ? state.data : null,
    error: isCurrent ? state.error : null,
    isLoading: !isCurrent || state.isLoading,
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

const INTERVAL_MS = 3_000
const MAX_INTERVAL_MS = 30_000

/**
 * Calls a function every few seconds while the page is visible; less and less often while it fails.
 * @param key starts again when it changes
 * @returns whether the last call succeeded
 */
export function usePolling(
  poll: () => Promise<unknown>,
  key: string,
  intervalMs: number = INTERVAL_MS,
): boolean {
  const [isLive, setIsLive] = useState(true)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let failures = 0
    let isStopped = false
    const schedule = () => {
      clearTimeout(timer)
      if (isStopped || document.hidden) return
      timer = setTimeout(run, Math.min(intervalMs * 2 ** failures, Math.max(MAX_INTERVAL_MS, intervalMs)))
    }
    const run = async () => {
      try {
        await poll()
        failures = 0
      } catch {
        failures += 1
      }
      if (isStopped) return
      setIsLive(failures === 0)
      schedule()
    }
    const onVisibility = () => (document.hidden ? clearTimeout(timer) : void run())
    schedule()
    document.addEventListener('visibilitychange', onVisibility)
    return () => {
      isStopped = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisibility)
    }
  }, [key])
  return isLive
}
