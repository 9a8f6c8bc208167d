import { Unavailable } from '../../core/errors.ts'
import type { LeasedExecution } from '../../core/execution.ts'
import { CANCELLED } from '../../core/execution-errors.ts'
import { backoffMs, type Lease, type LeaseTimes } from '../../core/lease-times.ts'
import { describeCause, logger } from '../../logger.ts'
import type { WorkerDeadline } from '../checkpoints/deadline.ts'
import { INLINE, unexpectedError } from '../checkpoints/stop-reason.ts'
import { endExecution, hasFinalParent } from '../end-execution.ts'
import { type Engine, newLease, queuedOf, timesOf } from '../engine.ts'
import { wake } from '../waiting/wake.ts'
import { attempt } from './attempt.ts'
import type { AttemptResult } from './attempt-state.ts'

/** The SQS message that named the execution. */
export type Message = {
  /** The execution is suspended, unless something else has resumed it. */
  wakes?: boolean
  /** ApproximateReceiveCount, from 1. */
  receiveCount: number
  /** The worker received others with it, which die with the worker. */
  isShared?: boolean
  /** Sets the message's visibility timeout, in milliseconds from now. */
  changeVisibility: (ms: number) => Promise<void>
}

/**
 * `processed`: the message is done. `held`: another worker has a live lease; if it dies, the sweeper re-enqueues the
 * execution. `closed`: the execution is final or deleted. `retryInMs`: SQS must deliver the message again after that
 * time.
 */
export type MessageResult = 'processed' | 'held' | 'closed' | { retryInMs: number }

/**
 * One round of the runner: claims a waiting execution and runs it to the end, or as far as this worker gets. Whatever
 * goes wrong after the claim, the lease is released.
 * @throws only without a message, if the execution cannot be claimed
 */
export async function processMessage(
  engine: Engine,
  id: string,
  { message, deadline }: { message?: Message; deadline?: WorkerDeadline } = {},
): Promise<MessageResult> {
  const lease = newLease(engine)
  const execution = await takeLease(engine, { id, lease, message }).catch((error: unknown) =>
    releaseUnread(engine, { id, owner: lease.owner, error, message }),
  )
  if (typeof execution === 'string' || 'retryInMs' in execution) return execution
  if (message?.isShared && hasLostWorker(execution, message)) return continueAlone(engine, execution)
  const visibility = hideWhileRunning(message, timesOf(engine))
  const result = await attempt(engine, execution, {
    isCancelled: () => hasFinalParent(engine, execution),
    onHeartbeat: async () => {
      await visibility.renew()
      if (await hasFinalParent(engine, execution))
        await endExecution(engine, { ...execution, error: CANCELLED })
    },
    deadline,
    retry: message ? { mode: 'requeue' } : INLINE,
  })
  await visibility.settle()
  return result.kind === 'released' && message ? requeue(engine, execution, result) : 'processed'
}

type Taking = { id: string; lease: Lease; message: Message | undefined }

/** A first message that resumes a suspended run saves the claim, which would fail. */
async function takeLease(engine: Engine, { id, lease, message }: Taking) {
  if (message?.wakes && message.receiveCount === 1) return wake(engine, id, lease)
  const claimed = await engine.executions.claim({ id, lease, now: engine.system.now() })
  return claimed === 'suspended' ? wake(engine, id, lease) : claimed
}

/** The claim may be stored although it failed, or although the execution could not be read after it. */
async function releaseUnread(
  engine: Engine,
  { id, owner, error, message }: { id: string; owner: string; error: unknown; message?: Message | undefined },
): Promise<MessageResult> {
  const { executions, system } = engine
  const { receiveCount: failures = 1 } = message ?? {}
  const delayMs = backoffMs(timesOf(engine), { failures, retryAfterMs: 0, jitter: Math.random() })
  const isOutage = error instanceof Unavailable
  const until = system.now() + delayMs + timesOf(engine).graceMs
  const cause = isOutage ? null : unexpectedError(error)
  await executions
    .release({ id, owner, until, error: cause, isCounted: !isOutage, isOutage })
    .catch(() => undefined)
  if (!message) throw error
  logger.warn('claim failed', { executionId: id, cause: describeCause(error) })
  return { retryInMs: delayMs }
}

/**
 * Sets the visibility timeout of a message slightly beyond the lease, once its run has taken a while. A short run needs
 * no request: the timeout of the queue is at least that of the function.
 */
function hideWhileRunning(message: Message | undefined, { visibilityMs, visibilityDelayMs }: LeaseTimes) {
  const renew = () => message?.changeVisibility(visibilityMs) ?? Promise.resolve()
  let first = Promise.resolve()
  const timer = setTimeout(() => {
    first = renew().catch(() => undefined)
  }, visibilityDelayMs)
  return {
    renew,

    /** To be awaited before the visibility timeout is set to anything else. */
    async settle(): Promise<void> {
      clearTimeout(timer)
      await first
    },
  }
}

/** Whether the last worker with this message died: one that stops after an error records the error. */
const hasLostWorker = ({ attempts, lastError }: LeasedExecution, { receiveCount }: Message): boolean =>
  receiveCount > 1 && attempts > 1 && lastError === null

/** Hands over a run that may be what killed its last worker to a worker that has no others. */
async function continueAlone(engine: Engine, execution: LeasedExecution): Promise<MessageResult> {
  const { id, lease } = execution
  const { graceMs, leaseMs } = timesOf(engine)
  const until = engine.system.now() + graceMs
  try {
    await engine.executions.release({ id, owner: lease.owner, until, error: null, isCounted: false })
    await engine.queue.send({ ...queuedOf(execution), sharesWorker: false })
    return 'processed'
  } catch {
    return { retryInMs: leaseMs }
  }
}

/**
 * Lets a released run continue. After an error without progress, SQS redelivers this message, which counts towards
 * maxReceiveCount; also if no other can be sent. Otherwise the run gets a new message, whose receive count starts
 * again.
 */
async function requeue(
  { queue }: Engine,
  execution: LeasedExecution,
  { progressed, hasFailed, delayMs }: Extract<AttemptResult, { kind: 'released' }>,
): Promise<MessageResult> {
  if (hasFailed && !progressed) return { retryInMs: delayMs }
  return queue.send({ ...queuedOf(execution), delayMs }).then(
    () => 'processed' as const,
    () => ({ retryInMs: delayMs }),
  )
}
