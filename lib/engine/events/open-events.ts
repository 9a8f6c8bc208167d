import { Unavailable } from '../../core/errors.ts'
import { type ExecutionStatus, isFinal } from '../../core/execution.ts'
import { EVENT_IDLE_MS } from '../../core/limits.ts'
import type { OwnedId } from '../../core/ports/system.ts'
import type { ExecutionEvent, RecordedStep } from '../../core/step.ts'
import { DeltaReader } from './delta-reader.ts'
import { ExecutionFeed, type FeedStores, type Steps } from './execution-feed.ts'

export type ReadEvents = OwnedId & {
  /** The status that the reader knows. */
  status: ExecutionStatus
  /** The number of the last step that the reader has; 0 for none. */
  after: number
  maxMs: number
  /** Ends after the first read that finds something. */
  untilNews?: boolean
  /** Whether to show what models are writing. `here`: it begins in this process. */
  deltas?: boolean | 'here' | undefined
  signal: AbortSignal
}

/** Reads the events of executions. All readers of one execution in this process share a feed. */
export function openEvents(stores: FeedStores) {
  const feeds = new Map<string, { feed: ExecutionFeed; readers: number }>()
  const nameOf = ({ organizationId, id }: OwnedId) => `${organizationId}/${id}`

  function openFeed(key: OwnedId, status: ExecutionStatus) {
    const known = feeds.get(nameOf(key))
    if (known) return known
    const opened = { feed: new ExecutionFeed(stores, key, status), readers: 0 }
    feeds.set(nameOf(key), opened)
    opened.feed.poll()
    return opened
  }

  return {
    /** The status (null: it does not exist) and whether it has the step `after`. At most one small read. */
    async find({ after, ...key }: OwnedId & Pick<ReadEvents, 'after'>) {
      const feed = feeds.get(nameOf(key))?.feed
      if (feed?.status === 'IN_PROGRESS' && feed.hasRead(after)) return { status: feed.status, hasStep: true }
      const end = { number: Math.max(after - 1, 0), pendingCalls: [] }
      const { status, hasMore } = await stores.steps.probe({ ...key, end })
      return { status, hasStep: after === 0 || hasMore }
    },

    /**
     * Batches of events: the steps after `after`, and what follows, until the execution is final, suspended or deleted.
     */
    async *read(params: ReadEvents): AsyncGenerator<ExecutionEvent[]> {
      const { id, status, deltas = false } = params
      const opened = openFeed(params, status)
      opened.readers++
      const live = deltas ? new DeltaReader(id, opened.feed) : null
      if (deltas === true) opened.feed.refresh()
      try {
        yield [{ kind: 'status', id, status }]
        yield* follow(opened.feed, params, live)
      } catch (error) {
        // A client that reconnects continues at the last step it has received.
        if (!(error instanceof Unavailable)) throw error
      } finally {
        live?.stop()
        opened.readers--
        if (opened.readers === 0) {
          opened.feed.stop()
          feeds.delete(nameOf(params))
        }
      }
    },
  }
}

/** @throws an Error when a page that is not the last one has nothing after the steps that the reader has */
async function* follow(
  feed: ExecutionFeed,
  { id, status: knownStatus, after, maxMs, untilNews = false, signal }: ReadEvents,
  live: DeltaReader | null,
): AsyncGenerator<ExecutionEvent[]> {
  const endsAt = performance.now() + maxMs
  const isOver = () => signal.aborted || performance.now() >= endsAt
  let seen = { number: after, results: new Set<string>() }
  /** The step that the next page begins with: the last one seen, as long as it may have new results. */
  let from = after
  let isBehind = true
  let page: Promise<Steps> | undefined
  let wake = () => {}
  let known: Promise<void> | undefined
  for (;;) {
    const changed = feed.onceChanged()
    // One reaction for each change, however many deltas arrive before it.
    if (changed !== known) changed.then(() => wake())
    known = changed
    const { status, suspension } = feed
    if (status === null || isOver()) return
    const mayHaveMore: boolean =
      isBehind || feed.isAheadOf({ number: seen.number, results: seen.results.size })
    const latest: Promise<Steps> | undefined = mayHaveMore ? feed.read(from) : page
    if (latest && latest !== page) {
      page = latest
      const { items, hasMore }: Steps = await latest
      const events = items.flatMap((recorded) => newEvents(recorded, seen))
      const last = items.at(-1)
      if (last) seen = { number: last.step.number, results: new Set(last.results.keys()) }
      if (hasMore && (!last || last.step.number < from))
        throw new Error(`The steps of ${id} from ${from} on have no end.`)
      // A step is written after all results of the one before it.
      from = hasMore ? seen.number + 1 : Math.max(seen.number, from)
      isBehind = hasMore
      if (events.length > 0) yield live?.before(events) ?? events
      if (untilNews && events.length > 0) return
    } else if (status !== 'IN_PROGRESS') {
      const execution = await feed.getRecord()
      if (!execution || !isFinal(execution)) return
      const changes: ExecutionEvent[] = status === knownStatus ? [] : [{ kind: 'status', id, status }]
      yield [...changes, { kind: 'done', execution }]
      return
    } else if (suspension) {
      yield [{ kind: 'waiting', id, waits: suspension.waits }]
      return
    } else {
      const pieces = live?.take(seen.number) ?? []
      if (pieces.length > 0) {
        yield pieces
        continue
      }
      const ms = Math.min(EVENT_IDLE_MS, endsAt - performance.now())
      const news = new Promise<void>((resolve) => {
        wake = resolve
        live?.onceDue(resolve)
      })
      if (!(await happensWithin(ms, news, signal)) && !isOver()) yield [{ kind: 'idle' }]
    }
  }
}

/** What of a step a reader has not seen. A step that it has received before may have new results. */
function newEvents(recorded: RecordedStep, seen: { number: number; results: Set<string> }): ExecutionEvent[] {
  const isKnown = recorded.step.number <= seen.number
  const callIds = [...recorded.results.keys()].filter((callId) => !isKnown || !seen.results.has(callId))
  return [
    ...(isKnown ? [] : [{ kind: 'step' as const, recorded }]),
    ...callIds.map((callId) => ({ kind: 'tool' as const, recorded, callId })),
  ]
}

/** False after the time, or when the signal aborts. */
async function happensWithin(ms: number, change: Promise<void>, signal: AbortSignal): Promise<boolean> {
  const { promise: isOver, resolve } = Promise.withResolvers<false>()
  const end = () => resolve(false)
  const timer = setTimeout(end, ms)
  signal.addEventListener('abort', end)
  try {
    return await Promise.race([change.then(() => true), isOver])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}
