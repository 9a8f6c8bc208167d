import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../../core/errors.ts'
import { type ExecutionStatus, isFinal } from '../../core/execution.ts'
import type { ExecutionEvent } from '../../core/execution-event.ts'
import { EVENT_IDLE_MS } from '../../core/limits.ts'
import type { RecordedStep } from '../../core/step.ts'
import { ExecutionFeed, type FeedKey, type FeedStores } from './execution-feed.ts'

export type ReadEvents = FeedKey & {
  /** The status that the reader knows. */
  status: ExecutionStatus
  /** The number of the last step that the reader has; 0 for none. */
  after: number
  maxMs: number
  /** Ends once everything that is new has been read, if anything is. */
  untilNews?: boolean
  signal: AbortSignal
}

/** Reads the events of executions. All readers of one execution share a feed. */
export function eventReader(stores: FeedStores) {
  const feeds = new Map<string, { feed: ExecutionFeed; readers: number }>()

  function open(key: FeedKey, status: ExecutionStatus) {
    const known = feeds.get(key.id)
    if (known) return known
    const opened = { feed: new ExecutionFeed(stores, key, status), readers: 0 }
    feeds.set(key.id, opened)
    opened.feed.poll()
    return opened
  }

  /** Events from now on, and before them the steps after `after`: until the execution is final or deleted, for `maxMs` at most. */
  return async function* read({
    organizationId,
    id,
    status,
    ...reader
  }: ReadEvents): AsyncGenerator<ExecutionEvent> {
    const opened = open({ organizationId, id }, status)
    opened.readers++
    try {
      yield { kind: 'status', id, status }
      yield* follow(opened.feed, { id, status, ...reader })
    } catch (error) {
      // A client that reconnects continues at the last step it has received.
      if (!(error instanceof Unavailable)) throw error
    } finally {
      opened.readers--
      if (opened.readers === 0) {
        opened.feed.stop()
        feeds.delete(id)
      }
    }
  }
}

type Reader = Omit<ReadEvents, 'organizationId'>

async function* follow(
  feed: ExecutionFeed,
  { id, status: knownStatus, after, maxMs, untilNews = false, signal }: Reader,
): AsyncGenerator<ExecutionEvent> {
  const endsAt = performance.now() + maxMs
  let seen = { number: after, results: new Set<string>() }
  let [isFirst, hasNews] = [true, false]
  for (;;) {
    const changed = feed.onceChanged()
    const { status } = feed
    if (status === null || signal.aborted || performance.now() >= endsAt) return
    if (isFirst || feed.isAheadOf({ number: seen.number, results: seen.results.size })) {
      const { items, hasMore } = await feed.read(seen.number)
      for (const recorded of items) {
        for (const event of newEvents(recorded, seen)) {
          hasNews = true
          yield event
        }
        seen = { number: recorded.step.number, results: new Set(recorded.results.keys()) }
      }
      isFirst = hasMore
    } else if (status !== 'IN_PROGRESS') {
      const execution = await feed.getRecord()
      if (!execution || !isFinal(execution)) return
      if (status !== knownStatus) yield { kind: 'status', id, status }
      yield { kind: 'done', execution }
      return
    } else if (untilNews && hasNews) return
    else if (!(await isChanged(changed, Math.min(EVENT_IDLE_MS, endsAt - performance.now()), signal)))
      yield { kind: 'idle' }
  }
}

/** What of a step a reader has not seen. A step that it has received before may have new results. */
function* newEvents(
  recorded: RecordedStep,
  seen: { number: number; results: Set<string> },
): Generator<ExecutionEvent> {
  const isKnown = recorded.step.number <= seen.number
  if (!isKnown) yield { kind: 'step', recorded }
  for (const callId of recorded.results.keys())
    if (!isKnown || !seen.results.has(callId)) yield { kind: 'tool', recorded, callId }
}

/** False after the time, or when the signal aborts. */
async function isChanged(changed: Promise<void>, ms: number, signal: AbortSignal): Promise<boolean> {
  const timer = new AbortController()
  const pause = sleep(Math.max(ms, 0), false, { signal: AbortSignal.any([signal, timer.signal]) })
  try {
    return await Promise.race([changed.then(() => true), pause.catch(() => false)])
  } finally {
    timer.abort()
  }
}
