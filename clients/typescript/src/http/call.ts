import { AgentError } from '../errors.ts'
import { watch } from './watchdog.ts'

/** One call of a method of the client: all its requests share a signal and a deadline. */
export type Call = {
  /** Aborts with the signal of the caller, and at the deadline. */
  signal: AbortSignal
  /** On the clock of `performance.now()`. */
  endsAt: number
  /** What the call waits for, as soon as it is known. */
  executionId: string | undefined
  /** The last failure that was followed by a retry. */
  lastError: AgentError | undefined
  close: () => void
}

/** @throws the reason of the signal if it is aborted already, TypeError if the time is not valid */
export function openCall(signal: AbortSignal | undefined, timeoutMs: number): Call {
  if (!(timeoutMs > 0)) throw new TypeError(`timeoutMs must be a number above 0, not ${timeoutMs}.`)
  signal?.throwIfAborted()
  const watchdog = watch(signal, timeoutMs, () => {
    const { executionId, lastError } = call
    const detail = `The call did not end within ${timeoutMs} ms.`
    const fields = { code: 'ClientTimeout', detail, ...(executionId !== undefined && { executionId }) }
    return new AgentError(fields, lastError)
  })
  const call: Call = {
    signal: watchdog.signal,
    endsAt: performance.now() + timeoutMs,
    executionId: undefined,
    lastError: undefined,
    close: watchdog.close,
  }
  return call
}
