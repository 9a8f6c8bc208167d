import { useState } from 'preact/hooks'
import type { ApiError } from '../api/api-error.ts'
import { asApiError } from '../api/use-resource.ts'

/** A request that can be repeated, but not while it is under way. The result is that of the last one. */
export function useAttempts<Result>(attempt: () => Promise<Result>) {
  const [state, setState] = useState<{
    isRunning: boolean
    result: Result | null
    error: ApiError | null
  }>({ isRunning: false, result: null, error: null })
  async function start() {
    if (state.isRunning) return
    setState({ isRunning: true, result: null, error: null })
    try {
      setState({ isRunning: false, result: await attempt(), error: null })
    } catch (error) {
      setState({ isRunning: false, result: null, error: asApiError(error) })
    }
  }
  return { ...state, start }
}
