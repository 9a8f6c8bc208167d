/** A signal that aborts when another one does, and after a time. */
export type Watchdog = {
  signal: AbortSignal
  /** Starts the time again. */
  restart: () => void
  close: () => void
}

/** The longest time that a timer can wait (https://developer.mozilla.org/docs/Web/API/setTimeout). */
const MAX_TIMER_MS = 2 ** 31 - 1

/**
 * `AbortSignal.any` and `AbortSignal.timeout` are missing in Node 18, and cannot be closed: a signal that outlives many calls
 * would keep a listener of each.
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

/** Rejects with the reason of the signal when it aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      if (signal.aborted) reject(signal.reason)
      else resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}
