import { useState } from 'preact/hooks'
import type { ApiError } from '../../api/api-error.ts'
import { asApiError } from '../../api/use-resource.ts'

/** A request that a button starts. It can be started again after an error, but not while it is under way. */
export function useAction(action: () => Promise<void>): {
  isRunning: boolean
  error: ApiError | null
  start: () => Promise<void>
} {
  const [state, setState] = useState<{ isRunning: boolean; error: ApiError | null }>({
    isRunning: false,
    error: null,
  })
  async function start() {
    if (state.isRunning) return
    setState({ isRunning: true, error: null })
    try {
      await action()
    } catch (error) {
      setState({ isRunning: false, error: asApiError(error) })
    }
  }
  return { ...state, start }
}
