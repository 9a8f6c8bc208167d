/**
 * Rejects with the signal's reason as soon as it is aborted. `fetch` alone does not always: it no longer stops reading
 * a body once the garbage collector has taken the `Request` of the call (undici keeps it by a weak reference).
 */
export function abortable<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
