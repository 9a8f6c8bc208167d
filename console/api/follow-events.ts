import type { SentEvent } from '../../clients/typescript/src/runs/sse.ts'
import { asApiError } from './api-error.ts'
import { createQuiet } from './quiet.ts'

const MIN_RECONNECT_MS = 1_000
const MAX_RECONNECT_MS = 20_000

export type EventSourceOptions = {
  /** Opens the stream after an event; `''` for all events. @throws ApiError */
  open: (lastEvent: string, signal: AbortSignal) => Promise<AsyncIterable<SentEvent>>
  /** Given, no stream is open while it is not worth it: see `createQuiet`. */
  peek?: () => Promise<unknown>
  signal: AbortSignal
  /** The stream is lost and will be opened again (true), or is open again. */
  onReconnecting: (isReconnecting: boolean) => void
}

/** What an event has brought: something new, nothing, or the end. */
type Received<T> = 'news' | 'nothing' | { end: T }

/**
 * Reads events until the last one. A stream that ends or is lost is opened again after the last event that was
 * received, less and less often while nothing new arrives.
 * @throws ApiError for what a retry cannot change: the subject is deleted, or the token may not see it
 */
export async function followEvents<T>(
  { open, peek, signal, onReconnecting }: EventSourceOptions,
  receive: (event: SentEvent) => Received<T>,
): Promise<T> {
  let lastEvent = ''
  let waitMs = MIN_RECONNECT_MS
  /** What has arrived after the last event with an ID: each stream begins with it again. */
  const known = new Set<string>()
  const quiet = peek && createQuiet({ peek })
  try {
    for (;;) {
      const closed = await quiet?.next(signal)
      try {
        const events = await open(lastEvent, closed ? AbortSignal.any([signal, closed]) : signal)
        onReconnecting(false)
        for await (const event of events) {
          if (event.id) {
            lastEvent = event.id
            known.clear()
          }
          const text = `${event.event} ${event.data}`
          const isKnown = known.has(text)
          known.add(text)
          const received = receive(event)
          if (typeof received === 'object') return received.end
          if (received === 'nothing' || isKnown) continue
          waitMs = MIN_RECONNECT_MS
          quiet?.restart()
        }
      } catch (error) {
        const { status } = asApiError(error)
        if (signal.aborted) throw error
        if (!closed?.aborted) {
          if (status >= 400 && status < 500 && status !== 429) throw error
          onReconnecting(true)
        }
      }
      if (closed?.aborted) continue
      await wait(waitMs, signal)
      waitMs = Math.min(waitMs * 2, MAX_RECONNECT_MS)
    }
  } finally {
    quiet?.stop()
  }
}

/** @throws the reason of the signal if it aborts */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const abort = () => {
    clearTimeout(timer)
    reject(signal.reason)
  }
  const timer = setTimeout(() => {
    signal.removeEventListener('abort', abort)
    resolve()
  }, ms)
  signal.addEventListener('abort', abort, { once: true })
  return promise
}
