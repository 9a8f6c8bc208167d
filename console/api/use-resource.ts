import { useCallback } from 'preact/hooks'
import type { ApiError } from './api-error.ts'
import { requestJson } from './request.ts'
import { useList } from './use-list.ts'

/** What a request has led to so far. `data` stays while it is loaded again. */
type Resource<T> = {
  data: T | null
  error: ApiError | null
  isLoading: boolean
  isLive: boolean
  reload: () => void
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
  poll?: Poll<T>,
): Resource<T> {
  const { items, error, isLoading, isLive, reload, replace } = useList<T>(key, {
    keyOf: () => key,
    load: async (_, signal) => ({ items: [await load(signal)], next: null }),
    ...(poll && {
      poll: {
        everyMs: ([data = null]) => (poll.everyMs ? poll.everyMs(data) : undefined),
        async read(list, signal) {
          const latest = await load(signal)
          list.replace([latest])
          return poll.watch ? poll.watch(latest) : latest
        },
      },
    }),
  })
  const setData = useCallback((data: T) => replace([data]), [])
  return { data: items[0] ?? null, error, isLoading, isLive, reload, setData }
}

export const useRecord = <T>(path: string, poll?: Poll<T>): Resource<T> =>
  useResource(path, (signal) => requestJson<T>(path, { signal }), poll)
