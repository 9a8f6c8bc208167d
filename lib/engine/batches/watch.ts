import { LRUCache } from 'lru-cache'
import type { Batch, CountedBatch } from '../../core/batch.ts'
import { Unavailable } from '../../core/errors.ts'
import { EVENT_IDLE_MS } from '../../core/limits.ts'
import type { BatchStore } from '../../core/ports/batches.ts'
import { countLines } from './read.ts'

/** Between two reads of a batch in this process, however many clients follow it. */
const POLL_MS = 1_000
const MAX_BATCHES = 1_000

type Key = Pick<Batch, 'organizationId' | 'id'>

export type Watch = Key & {
  /** Of `stateOf`: how the reader has seen the batch. */
  known: string | undefined
  maxMs: number
  /** Ends after the first change. */
  untilNews: boolean
  signal: AbortSignal
}

/** Follows batches. All readers of one in this process share its reads. */
export function openWatch({ batches }: { batches: Pick<BatchStore, 'get' | 'listLanes'> }) {
  const read = async (key: Key): Promise<CountedBatch | undefined> => {
    const batch = await batches.get(key)
    return batch ? countLines({ batches }, batch) : undefined
  }
  const latest = new LRUCache<string, CountedBatch, Key>({
    max: MAX_BATCHES,
    ttl: POLL_MS - 100,
    perf: performance,
    fetchMethod: (_id, _stale, { context }) => read(context),
  })

  /** The batch whenever its lines have changed, until it has ended; null after silence. */
  return async function* watch({
    known,
    maxMs,
    untilNews,
    signal,
    ...key
  }: Watch): AsyncGenerator<CountedBatch | null> {
    const endsAt = performance.now() + maxMs
    let last = known
    let saidAt = performance.now()
    while (!signal.aborted && performance.now() < endsAt) {
      const counted = await latest.fetch(`${key.organizationId}/${key.id}`, { context: key }).catch(repeat)
      if (counted === undefined) return
      const hasEnded = counted?.batch.status === 'ENDED'
      const isNew = counted && (hasEnded || stateOf(counted) !== last)
      if (isNew || performance.now() - saidAt >= EVENT_IDLE_MS) {
        yield isNew ? counted : null
        saidAt = performance.now()
      }
      if (hasEnded || (isNew && untilNews)) return
      if (counted) last = stateOf(counted)
      await pause(signal)
    }
  }
}

/** Different whenever the lines of a batch have changed. */
export const stateOf = ({
  batch,
  totals: { succeeded, failed, cancelled },
  waitingFor,
}: CountedBatch): string =>
  [batch.status, batch.stopped?.code ?? '', succeeded, failed, cancelled]
    .concat(waitingFor.map(({ lines }) => lines))
    .join('-')

/** A read that fails is repeated like any other. */
function repeat(error: unknown): null {
  if (error instanceof Unavailable) return null
  throw error
}

/** Ends early when the signal aborts. */
async function pause(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = () => resolve()
  const timer = setTimeout(end, POLL_MS)
  signal.addEventListener('abort', end)
  await promise
  clearTimeout(timer)
  signal.removeEventListener('abort', end)
}
