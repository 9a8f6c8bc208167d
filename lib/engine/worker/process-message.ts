import { resolveVersionOf } from '../../agents/version-cache.ts'
import { Unavailable } from '../../core/errors.ts'
import { CANCELLED, type ExecutionError, failure, type LeasedExecution } from '../../core/execution.ts'
import { backoffMs, type LeaseTimes } from '../../core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../core/limits.ts'
import type { RunQueue } from '../../core/ports.ts'
import { attemptsExhausted } from '../../core/transitions.ts'
import { describeCause, logger } from '../../logger.ts'
import type { WorkerDeadline } from '../checkpoints/deadline.ts'
import { INLINE, type RetryPolicy } from '../checkpoints/retry-policy.ts'
import { endExecution } from '../end-execution.ts'
import { type Engine, isoNow, timesOf } from '../engine.ts'
import { attempt } from './attempt.ts'
import { stopAttempt, unexpectedError } from './stop-attempt.ts'
import type { AttemptResult } from './write-outcome.ts'

/** The SQS message that named the execution. */
export type Message = {
  queue: RunQueue
  /** ApproximateReceiveCount, from 1. */
  receiveCount: number
  /** Sets the message's visibility timeout, in milliseconds from now. */
  changeVisibility: (ms: number) => Promise<void>
}

/**
 * `processed`: the message is done. `held`: another worker has a live lease; if it dies, the sweeper re-enqueues the
 * execution. `closed`: the execution is final or deleted. `retryInMs`: SQS must deliver the message again after that time.
 */
export type MessageResult = 'processed' | 'held' | 'closed' | { retryInMs: number }

type Options = { message?: Message; deadline?: WorkerDeadline }

/**
 * One round of the runner: claims a waiting execution and runs it to the end, or as far as this worker gets. Whatever goes wrong
 * after the claim, the lease is released.
 * @throws only without a message, if the execution cannot be claimed
 */
export async function processMessage(
  engine: Engine,
  id: string,
  options: Options = {},
): Promise<MessageResult> {
  const { executions, system } = engine
  const { message } = options
  const now = system.now()
  const lease = { owner: system.newId(), expiresAt: now + timesOf(engine).leaseMs }
  const execution = await executions
    .claim({ id, lease, now })
    .catch((error: unknown) => releaseUnread(engine, { id, owner: lease.owner, error, message }))
  if (typeof execution === 'string' || 'retryInMs' in execution) return execution
  const retry: RetryPolicy = message ? { mode: 'requeue' } : INLINE
  const result = await runClaimed(engine, execution, retry, options).catch((error: unknown) =>
    stopAttempt({ engine, execution, retry, journal: null }, error),
  )
  return result.kind === 'released' && message ? requeue(execution, result, message) : 'processed'
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

async function runClaimed(
  engine: Engine,
  execution: LeasedExecution,
  retry: RetryPolicy,
  { message, deadline }: Options,
): Promise<AttemptResult> {
  const { executions, steps, system } = engine
  const fail = async (error: ExecutionError): Promise<AttemptResult> => {
    const progress = await steps.getProgress({ executionId: execution.id })
    const outcome = { ...failure(error), ...progress }
    const ended = await executions.finish({ execution, outcome, finishedAt: isoNow(system) })
    return ended ? { kind: 'completed', execution: ended } : { kind: 'lost' }
  }
  if (execution.attemptsSinceProgress > MAX_ATTEMPTS) return fail(attemptsExhausted(execution))
  const version = await resolveVersionOf(engine.agents, execution)
  if (!version) {
    return fail({ code: 'VersionNotFound', message: 'The version of the execution no longer exists.' })
  }
  if (await hasFinalParent(engine, execution)) return fail(CANCELLED)
  const visibility = hideWhileRunning(message, timesOf(engine))
  const onHeartbeat = async () => {
    await visibility.renew()
    if (await hasFinalParent(engine, execution))
      await endExecution(engine, { ...execution, error: CANCELLED })
  }
  return attempt(engine, execution, version, { onHeartbeat, deadline, retry }).finally(visibility.settle)
}

/**
 * Sets the visibility timeout of a message slightly beyond the lease, once its run has taken a while. A short run needs no request:
 * the timeout of the queue is at least that of the function.
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

/** A child whose parent ended while no worker was running the parent ends, too. */
async function hasFinalParent(
  { executions }: Engine,
  { organizationId, parentExecutionId }: LeasedExecution,
): Promise<boolean> {
  if (parentExecutionId === null) return false
  return (await executions.getStatus({ organizationId, id: parentExecutionId })) !== 'IN_PROGRESS'
}

/**
 * Lets a released run continue. After an error without progress, SQS redelivers this message, which counts towards
 * maxReceiveCount; also if no other can be sent. Otherwise the run gets a new message, whose receive count starts again.
 */
async function requeue(
  { id, organizationId, tenantId }: LeasedExecution,
  { progressed, hasFailed, delayMs }: Extract<AttemptResult, { kind: 'released' }>,
  { queue }: Message,
): Promise<MessageResult> {
  if (hasFailed && !progressed) return { retryInMs: delayMs }
  return queue.send({ executionId: id, organizationId, tenantId, delayMs }).then(
    () => 'processed' as const,
    () => ({ retryInMs: delayMs }),
  )
}
