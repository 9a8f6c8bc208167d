import { resolveVersionOf } from '../../agents/version-cache.ts'
import { CANCELLED, type ExecutionError, failure, type LeasedExecution } from '../../core/execution.ts'
import type { LeaseTimes } from '../../core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../core/limits.ts'
import type { RunQueue } from '../../core/ports.ts'
import { attemptsExhausted } from '../../core/transitions.ts'
import type { WorkerDeadline } from '../checkpoints/deadline.ts'
import { endExecution } from '../end-execution.ts'
import { type Engine, isoNow, timesOf } from '../engine.ts'
import { type AttemptResult, attempt } from './attempt.ts'

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

/** One round of the runner: claims a waiting execution and runs it to the end, or as far as this worker gets. */
export async function processMessage(
  engine: Engine,
  id: string,
  { message, deadline }: { message?: Message; deadline?: WorkerDeadline } = {},
): Promise<MessageResult> {
  const { executions, system } = engine
  const now = system.now()
  const lease = { owner: system.newId(), expiresAt: now + timesOf(engine).leaseMs }
  const execution = await executions.claim({ id, lease, now })
  if (typeof execution === 'string') return execution

  const fail = async (error: ExecutionError): Promise<MessageResult> => {
    const progress = await engine.steps.getProgress({ executionId: id })
    const outcome = { ...failure(error), ...progress }
    await executions.finish({ execution, outcome, finishedAt: isoNow(system) })
    return 'processed'
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
  const result = await attempt(engine, execution, version, {
    onHeartbeat,
    deadline,
    retry: message && { mode: 'requeue', receiveCount: message.receiveCount },
  }).finally(visibility.settle)
  return result.kind === 'released' && message ? requeue(execution, result, message) : 'processed'
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
 * maxReceiveCount. Otherwise the run gets a new message, whose receive count starts again.
 */
async function requeue(
  { id, organizationId, tenantId }: LeasedExecution,
  { progressed, hasFailed, delayMs }: Extract<AttemptResult, { kind: 'released' }>,
  { queue }: Message,
): Promise<MessageResult> {
  if (hasFailed && !progressed) return { retryInMs: delayMs }
  await queue.send({ executionId: id, organizationId, tenantId, delayMs })
  return 'processed'
}
