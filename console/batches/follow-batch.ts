import type { SentEvent } from '../../clients/typescript/src/runs/sse.ts'
import type { BatchRecord } from '../../lib/api/schemas/batch-record.ts'
import { parseJsonText } from '../api/request.ts'
import { asApiError } from '../api/use-resource.ts'

const MIN_RECONNECT_MS = 1_000
const MAX_RECONNECT_MS = 20_000

type Options = {
  /** Opens the stream after an event; `''` for all. @throws ApiError */
  open: (lastEvent: string) => Promise<AsyncIterable<SentEvent>>
  signal: AbortSignal
  onBatch: (batch: BatchRecord) => void
  /** The stream is lost and will be opened again (true), or is open again. */
  onReconnecting: (isReconnecting: boolean) => void
}

/**
 * Reads the events of a batch until it has ended. A stream that ends or is lost is opened again, less and less often
 * while nothing arrives.
 * @throws ApiError for what a retry cannot change: the batch is deleted, or the token may not see it
 */
export async function followBatch({ open, signal, onBatch, onReconnecting }: Options): Promise<void> {
  let lastEvent = ''
  let waitMs = MIN_RECONNECT_MS
  for (;;) {
    try {
      const events = await open(lastEvent)
      onReconnecting(false)
      for await (const { event, data, id } of events) {
        if (event !== 'counts' && event !== 'ended') continue
        waitMs = MIN_RECONNECT_MS
        lastEvent = id ?? lastEvent
        onBatch(parseJsonText<BatchRecord>(data))
        if (event === 'ended') return
      }
    } catch (error) {
      const { status } = asApiError(error)
      if (signal.aborted || (status >= 400 && status < 500 && status !== 429)) throw error
      onReconnecting(true)
    }
    await wait(waitMs, signal)
    waitMs = Math.min(waitMs * 2, MAX_RECONNECT_MS)
  }
}

/** @throws the reason of the signal if it aborts */
function wait(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    reject(signal.reason)
  })
  return promise
}
