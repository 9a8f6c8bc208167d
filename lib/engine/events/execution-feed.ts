import { attemptId, attemptsAt, endOfStep } from '../../core/attempts.ts'
import type { Execution, ExecutionStatus } from '../../core/execution.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { OwnedId } from '../../core/ports/system.ts'
import type { JournalEnd, RecordedStep, ResponseSoFar, StepStore } from '../../core/step.ts'
import type { Suspension } from '../../core/wait.ts'
import { emitLiveChanged, liveResponseOf } from '../checkpoints/live-response.ts'
import { onceCompleted } from '../wait-for-completion.ts'

export type FeedStores = {
  executions: Pick<ExecutionStore, 'get' | 'watch'>
  steps: Pick<StepStore, 'list' | 'probe'>
}

/** The last step that a reader has seen, and how many results of its calls. */
export type Position = { number: number; results: number }

/** Steps from a number on, as they were when they were read. */
export type Steps = { items: RecordedStep[]; hasMore: boolean }

/** Between two probes of an execution in this process, however many clients read its events. */
const POLL_MS = 1_000

/** How long a worker in another process keeps its responses for the readers here, unless they go on reading. */
export const WATCH_MS = 45_000

/** Between two writes that say that there are readers. */
const WATCH_INTERVAL_MS = 30_000

/** What one read returns: little, because every slow reader keeps it in memory. */
const PAGE = { limit: 50, maxBytes: 1_000_000 }

/**
 * What the readers of one execution in this process share: a poll that notices new steps, new results and the end, and
 * the steps read since then. Readers at the same position share one read. Nothing is kept for those that are behind:
 * they read the journal from their own position.
 */
export class ExecutionFeed {
  /** As of the last probe. Null when the execution was deleted. */
  status: ExecutionStatus | null
  /** Not null while the execution is suspended, as of the last probe. */
  suspension: Suspension | null = null
  private readonly stores: FeedStores
  private readonly key: OwnedId
  /** By the number from which they were read. Replaced whenever something new is known to exist. */
  private pages = new Map<number, Promise<Steps>>()
  private record: Promise<Execution | null> | undefined
  /** The end of the journal, as far as it was read. */
  private end: Position & JournalEnd = { number: 0, results: 0, pendingCalls: [] }
  /** Whether a probe has seen more since. */
  private hasGrown = false
  private change = Promise.withResolvers<void>()
  private wake = () => {}
  private isStopped = false
  /** Readers that follow the responses, and what a worker in another process has kept of the present one. */
  private watchers = 0
  response: ResponseSoFar | null = null

  constructor(stores: FeedStores, { organizationId, id }: OwnedId, status: ExecutionStatus) {
    this.stores = stores
    this.key = { organizationId, id }
    this.status = status
  }

  hasRead(number: number): boolean {
    return this.end.number >= number
  }

  isAheadOf(position: Position): boolean {
    return this.hasGrown || isAfter(this.end, position)
  }

  /** Steps from this number on. */
  read(number: number): Promise<Steps> {
    const { pages } = this
    const known = pages.get(number)
    if (known) return known
    const page = this.load(number)
    pages.set(number, page)
    page.catch(() => pages.delete(number))
    return page
  }

  /** The final record; null if the execution was deleted. */
  getRecord(): Promise<Execution | null> {
    this.record ??= this.stores.executions.get(this.key).catch((error) => {
      this.record = undefined
      throw error
    })
    return this.record
  }

  /** Resolves at the next change. */
  onceChanged(): Promise<void> {
    return this.change.promise
  }

  /** Follows the responses of a worker in another process, from the next probe on. @returns what ends that */
  watch(): () => void {
    this.watchers++
    return () => this.watchers--
  }

  /** Probes now. */
  refresh(): void {
    this.wake()
  }

  /** Probes until the execution is final or the feed is stopped. A probe that fails is repeated like any other. */
  async poll(): Promise<void> {
    while (this.status === 'IN_PROGRESS') {
      await this.pause()
      if (this.isStopped) return
      await this.probe().catch(() => undefined)
    }
  }

  stop(): void {
    this.isStopped = true
    this.wake()
  }

  private async load(number: number): Promise<Steps> {
    const { pages } = this
    const after = number > 1 ? { order: String(number - 1) } : null
    const { items, next } = await this.stores.steps.list({ executionId: this.key.id, after, ...PAGE })
    const steps = { items, hasMore: next !== null }
    if (steps.hasMore) return steps
    // Otherwise, what a probe saw during this read may be missing: it is read again.
    const isLatest = pages === this.pages
    if (isLatest) this.hasGrown = false
    const end = endOf(items)
    if (isAfter(end, this.end)) {
      this.end = end
      this.announce()
      if (isLatest) this.pages.set(number, Promise.resolve(steps))
    }
    return steps
  }

  private async probe(): Promise<void> {
    const { executions, steps } = this.stores
    const withResponse = this.watchers > 0 && !liveResponseOf(this.key.id)
    const probed = await steps.probe({ ...this.key, end: this.end, withResponse })
    const { status, suspension, hasMore, live } = probed
    if (live?.response) {
      this.response = live.response
      emitLiveChanged(this.key.id)
    }
    const now = Date.now()
    const isWatched = !live || live.watchedUntil > now + WATCH_MS - WATCH_INTERVAL_MS
    if (status === 'IN_PROGRESS' && !suspension && !isWatched)
      await executions.watch({ ...this.key, until: now + WATCH_MS }).catch(() => undefined)
    const isSame = status === this.status && suspension?.at === this.suspension?.at
    if (isSame && !hasMore) return
    this.status = status
    this.suspension = suspension
    this.hasGrown = true
    this.announce()
  }

  private announce(): void {
    this.pages = new Map()
    this.change.resolve()
    this.change = Promise.withResolvers()
  }

  /** Until the next probe is due, or until this process learns that the execution may have completed. */
  private async pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.wake = resolve
    const timer = setTimeout(resolve, POLL_MS)
    const ignore = onceCompleted(this.key.id, resolve)
    await promise
    ignore()
    clearTimeout(timer)
  }
}

const isAfter = (a: Position, b: Position): boolean =>
  a.number > b.number || (a.number === b.number && a.results > b.results)

function endOf(items: RecordedStep[]): Position & JournalEnd {
  const last = items.at(-1)
  if (!last) return { number: 0, results: 0, pendingCalls: [] }
  const { step, results } = last
  const calls = step.kind === 'MODEL' ? step.calls.filter(({ error }) => error === null) : []
  const ids = calls.flatMap(({ id, approval }) => [id, approval?.id ?? []].flat())
  // Another attempt, unless the step has ended.
  if (step.kind === 'CODE' && !endOfStep(last)) ids.push(attemptId(attemptsAt(last).length + 1))
  const pendingCalls = ids.filter((id) => !results.has(id))
  return { number: step.number, results: results.size, pendingCalls }
}
