import { AgentError } from '../errors.ts'

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

/** A signal that aborts when another one does, and after a time. */
type Watchdog = {
  signal: AbortSignal
  /** Starts the time again. */
  restart: () => void
  close: () => void
}

/** The longest time that a timer can wait (https://developer.mozilla.org/docs/Web/API/setTimeout). */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * `AbortSignal.any` and `AbortSignal.timeout` are missing in Node 18, and cannot be closed: a signal that outlives many
 * calls would keep a listener of each.
 * @param toReason is called when the time has passed
 */
export function watch(parent: AbortSignal | undefined, ms: number, toReason: () => unknown): Watchdog {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const abort = () => controller.abort(parent?.reason)
  const restart = () => {
    clearTimeout(timer)
    if (ms <= MAX_TIMER_MS) timer = setTimeout(() => controller.abort(toReason()), ms)
  }
  parent?.addEventListener('abort', abort)
  if (parent?.aborted) abort()
  else restart()
  return {
    signal: controller.signal,
    restart,
    close: () => {
      clearTimeout(timer)
      parent?.removeEventListener('abort', abort)
    },
  }
}

/** The result of the work, unless the signal aborts before: then it rejects with the reason of the signal. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
    if (signal.aborted) abort()
  })
}

/** At most as long as a timer can wait. Rejects with the reason of the signal when it aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      if (signal.aborted) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(end, Math.min(ms, MAX_TIMER_MS))
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}
