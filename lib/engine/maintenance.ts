import { type Execution, isFinal } from '../core/execution.ts'
import { attemptsExhausted, DEADLINE_EXCEEDED } from '../core/execution-errors.ts'
import { type LeaseTimes, nextSweep } from '../core/lease-times.ts'
import { MAX_ATTEMPTS } from '../core/limits.ts'
import type { ExecutionStore, StaleExecution } from '../core/ports/executions.ts'
import type { RunQueue } from '../core/ports/queues.ts'
import type { System } from '../core/ports/system.ts'
import { type Endings, endAbandoned, settle } from './end-execution.ts'
import { queuedOf } from './engine.ts'

type Sweep = Endings & {
  executions: Pick<ExecutionStore, 'listStale' | 'postpone'>
  queue: RunQueue
  times: LeaseTimes
}

/** Of one attempt that is lost, any run of the same process may be the cause. */
const SUSPECT_ATTEMPTS = 2

type Result = 'ended' | 'enqueued' | 'ignored'

/**
 * Re-enqueues executions without a live lease, ends those past their deadline, and repeats what follows from the end of
 * those that have ended.
 * @throws an AggregateError at the end if some executions could not be swept
 */
export async function sweep(params: Sweep): Promise<{ ended: number; enqueued: number }> {
  const { executions, system } = params
  const total = { ended: 0, enqueued: 0 }
  const now = system.now()
  await processBatches(
    'stale executions could not be swept',
    (limit) => executions.listStale({ now, limit }),
    async (stale) => {
      const result = await sweepOne(params, stale)
      if (result === 'ignored') return settleStale(params, stale)
      total[result]++
      return true
    },
  )
  return total
}

async function sweepOne({ times, ...stores }: Sweep, stale: StaleExecution): Promise<Result> {
  const { executions, queue, system } = stores
  const now = system.now()
  const { id, organizationId, tenantId, createdAt, deadlineAt } = stale
  if (deadlineAt <= now)
    return toResult(
      await endAbandoned(stores, stale, DEADLINE_EXCEEDED, { ...listedOf(stale), unleasedAt: now }),
    )
  const until = nextSweep(times, Date.parse(createdAt), now)
  const postponed = await executions.postpone({ stale, until, now, restores: true })
  if (!postponed) return 'ignored'
  const { isLine = false, attemptsSinceProgress } = postponed
  const isSuspect = attemptsSinceProgress >= SUSPECT_ATTEMPTS
  const sharesWorker = sharesNextWorker(postponed)
  await queue.send({ executionId: id, organizationId, tenantId, sharesWorker, isLine, isSuspect })
  return 'enqueued'
}

/** Whether it is final: then it is no longer due, unless its parent can still be about to wait for it. */
async function settleStale({ times, ...stores }: Sweep, stale: StaleExecution): Promise<boolean> {
  const { executions, system } = stores
  const ended = await executions.getSummary(stale)
  if (!ended || !isFinal(ended) || ended.openUntil === null) return false
  if (await settle(stores, ended)) return true
  const until = nextSweep(times, Date.parse(stale.createdAt), system.now())
  await executions.settle({ execution: ended, until })
  return true
}

const toResult = (ended: Execution | null): Result => (ended ? 'ended' : 'ignored')

/** A run that lost its worker continues alone: it may be what killed it. */
const sharesNextWorker = ({ attempts, sharesWorker }: Pick<Execution, 'attempts' | 'sharesWorker'>) =>
  sharesWorker && attempts === 0

type Cleaning = { executions: Pick<ExecutionStore, 'listCleanups' | 'cleanUp'>; system: System }

/**
 * Completes deletions, and deletes payloads that have no record. Returns the number of items checked.
 * @throws an AggregateError at the end if some of them failed
 */
export function runCleanups({ executions, system }: Cleaning): Promise<number> {
  return processBatches(
    'cleanups failed',
    (limit) => executions.listCleanups({ now: system.now(), limit }),
    async (cleanup) => {
      await executions.cleanUp({ cleanup, now: system.now() })
      return true
    },
  )
}

/** Items per batch, and batches per run; the next run follows within a minute. */
const BATCH_SIZE = 200
const MAX_BATCHES = 25

/**
 * Returns the number of items processed. A failure does not stop the other ones; the next run lists its item again.
 * @param process returns whether the item is no longer listed
 * @throws an AggregateError at the end if some items failed
 */
async function processBatches<T>(
  failure: string,
  list: (limit: number) => Promise<T[]>,
  process: (item: T) => Promise<boolean>,
): Promise<number> {
  const errors: unknown[] = []
  let listed = 0
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const items = await list(BATCH_SIZE)
    listed += items.length
    const results = await Promise.allSettled(items.map(process))
    errors.push(...reasonsOf(results))
    // Without progress, the next batch would list the same items.
    const hasProgress = results.some((result) => result.status === 'fulfilled' && result.value)
    if (items.length < BATCH_SIZE || !hasProgress) break
  }
  throwAny(errors, `of ${listed} ${failure}`)
  return listed
}

/** Why some of what was settled has failed. */
export const reasonsOf = (results: PromiseSettledResult<unknown>[]): unknown[] =>
  results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))

/** @throws an AggregateError that counts the errors, says what has failed and why the first did, if there are any */
export function throwAny(errors: unknown[], failure: string): void {
  if (errors.length === 0) return
  const [first] = errors
  const reason = first instanceof Error ? first.message : String(first)
  throw new AggregateError(errors, `${errors.length} ${failure}. First error: ${reason}`)
}

type DeadLetter = Endings & {
  executions: Pick<ExecutionStore, 'get'>
  queue: RunQueue
  organizationId: string
  id: string
}

/**
 * Ends an execution whose message exceeded maxReceiveCount, with the last retryable error, if its attempts are used up
 * or its deadline has passed. Otherwise sends a new message. An execution with a live lease is never ended: if its
 * worker dies, the sweeper re-enqueues it.
 */
export async function processDeadLetter(params: DeadLetter): Promise<Result> {
  const { executions, queue, system, organizationId, id } = params
  const execution = await executions.get({ organizationId, id })
  if (!execution || isFinal(execution)) return 'ignored'
  if (execution.suspension) {
    // What it waits for may have arrived with this message. A worker decides.
    await queue.send({ ...queuedOf(execution), sharesWorker: false, wakes: true })
    return 'enqueued'
  }
  const isOverdue = execution.deadlineAt <= system.now()
  if (hasAttemptsLeft(execution) && !isOverdue) {
    await queue.send({ ...queuedOf(execution), sharesWorker: sharesNextWorker(execution) })
    return 'enqueued'
  }
  const error = isOverdue ? DEADLINE_EXCEEDED : attemptsExhausted(execution)
  return toResult(await endAbandoned(params, execution, error, { unleasedAt: system.now() }))
}

/** The values of an execution that was due. */
export const listedOf = ({ openUntil, deadlineAt }: StaleExecution) => ({ listed: { openUntil, deadlineAt } })

/**
 * Whether a dead-lettered message is replaced by a new one. A message can exceed maxReceiveCount with fewer attempts at
 * its run: the run made progress in between, or workers could not claim it because DynamoDB or Lambda throttled them.
 */
const hasAttemptsLeft = ({ attemptsSinceProgress, lostSteps }: Execution): boolean =>
  attemptsSinceProgress < MAX_ATTEMPTS && lostSteps.length < MAX_ATTEMPTS
