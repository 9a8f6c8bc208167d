import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import type { Batch, CountedBatch } from '../../core/batch.ts'
import { Unavailable } from '../../core/errors.ts'
import { EVENT_IDLE_MS } from '../../core/limits.ts'
import type { BatchStore } from '../../core/ports.ts'
import { countLines } from './read.ts'

/** Between two reads of a batch in this process, however many clients follow it. */
const POLL_MS = 1_000
const MAX_BATCHES = 1_000

type Key = Pick<Batch, 'organizationId' | 'id'>

export type Watch = Key & {
  /** Whether the reader has seen the batch like this. */
  isKnown: (counted: CountedBatch) => boolean
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
    fetchMethod: (_id, _stale, { context }) => read(context),
  })

  /** The batch whenever its lines have changed, until it has ended; null after silence. */
  return async function* watch({
    isKnown,
    maxMs,
    untilNews,
    signal,
    ...key
  }: Watch): AsyncGenerator<CountedBatch | null> {
    const endsAt = performance.now() + maxMs
    let last: CountedBatch | undefined
    let saidAt = performance.now()
    const isChange = (counted: CountedBatch) =>
      last ? !isDeepStrictEqual(counted, last) : counted.batch.status === 'ENDED' || !isKnown(counted)
    while (!signal.aborted && performance.now() < endsAt) {
      const counted = await latest.fetch(`${key.organizationId}/${key.id}`, { context: key }).catch(repeat)
      if (counted === undefined) return
      const isNew = counted && isChange(counted)
      if (counted) last = counted
      if (isNew) yield counted
      else if (performance.now() - saidAt >= EVENT_IDLE_MS) yield null
      if (isNew || performance.now() - saidAt >= EVENT_IDLE_MS) saidAt = performance.now()
      if (counted?.batch.status === 'ENDED' || (isNew && untilNews)) return
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}

/** A read that fails is repeated like any other. */
function repeat(error: unknown): null {
  if (error instanceof Unavailable) return null
  throw error
}
