import { Unavailable } from '../../core/errors.ts'
import { failure } from '../../core/execution.ts'
import { type ExecutionError, findExcessiveLoss } from '../../core/execution-errors.ts'
import { backoffMs } from '../../core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../core/limits.ts'
import type { Release } from '../../core/transitions.ts'
import type { Wait } from '../../core/wait.ts'
import { describeCause, logger } from '../../logger.ts'
import {
  AttemptStopped,
  nameOf,
  type StopReason,
  toRecordedError,
  uncounted,
  unexpectedError,
} from '../checkpoints/stop-reason.ts'
import { timesOf } from '../engine.ts'
import { afterSuspension, suspend } from '../waiting/suspend.ts'
import type { Attempt, AttemptResult } from './attempt-state.ts'
import { endOf, toRejection, writeOutcome } from './finish-attempt.ts'

/** Releases a run whose attempt stopped without an outcome, or ends it if no other attempt may follow. Never throws. */
export async function stopAttempt(current: Attempt, cause: unknown): Promise<AttemptResult> {
  const reason = await toStopReason(current, cause)
  if (reason.kind === 'LeaseLost') return { kind: 'lost' }
  if (reason.kind === 'Suspended') return suspendRun(current, reason.waits)
  const error = findFinalError(current, reason)
  if (!error) return release(current, reason)
  const outcome = failure(error)
  const completed = await writeOutcome(current, outcome).catch(() => 'failed' as const)
  if (completed === 'failed') return release(current, reason)
  return completed ? endOf(current, completed, outcome) : { kind: 'lost' }
}

async function toStopReason({ execution }: Attempt, cause: unknown): Promise<StopReason> {
  if (cause instanceof AttemptStopped) return cause.reason
  if (cause instanceof Unavailable) return { kind: 'DatabaseUnavailable', reason: nameOf(cause.cause) }
  const ids = { executionId: execution.id, organizationId: execution.organizationId }
  logger.error('attempt failed', { ...ids, cause: describeCause(cause) })
  if (execution.source !== 'TRIAL') {
    const { countFailedAttempt } = await import('../../metrics.ts')
    countFailedAttempt(ids)
  }
  return { kind: 'UnexpectedError', error: unexpectedError(cause) }
}

/**
 * Never throws: a run that cannot be suspended is released, and reaches the wait again. One that was, but may have
 * missed what it waits for, gets the message of one that is released.
 */
async function suspendRun(current: Attempt, waits: Wait[]): Promise<AttemptResult> {
  const { engine, execution, journal, heartbeat } = current
  const { workedMs } = heartbeat
  const recorded = { progress: journal?.hasGrown ? journal.progress : null, ...journal?.losses, workedMs }
  try {
    const suspension = await suspend(engine, execution, waits, recorded).catch(toRejection)
    if (suspension === 'lost') return { kind: 'lost' }
    if ('code' in suspension) {
      const outcome = failure(suspension)
      const completed = await writeOutcome(current, outcome)
      return completed ? endOf(current, completed, outcome) : { kind: 'lost' }
    }
    heartbeat.stop()
    await afterSuspension(engine, execution, suspension)
    if (execution.batch) await engine.afterLine?.(execution).catch(() => undefined)
    return { kind: 'suspended', suspension }
  } catch (error) {
    return release(current, await toStopReason(current, error))
  }
}

/** Null if the run can be released. */
function findFinalError({ execution, journal, retry }: Attempt, reason: StopReason): ExecutionError | null {
  const excess =
    journal?.lostStep && findExcessiveLoss(journal.lostSteps, toRecordedError(reason, journal.lostStep))
  if (excess) return excess
  const isLastAttempt = !journal?.hasGrown && execution.attemptsSinceProgress >= MAX_ATTEMPTS
  if (reason.kind === 'RetryableError' && isLastAttempt) return reason.error
  return reason.kind === 'UnexpectedError' && retry.mode === 'inline' ? reason.error : null
}

/** Best effort: a lease that is not released expires, and its attempt stays counted. */
async function release(current: Attempt, reason: StopReason): Promise<AttemptResult> {
  const { engine, execution, journal, heartbeat } = current
  const { leaseMs, graceMs } = timesOf(engine)
  const error = toRecordedError(reason, journal?.lostStep)
  const progressed = journal?.hasGrown ?? false
  const delayMs = delayOf(current, reason)
  const released: Release = {
    until: engine.system.now() + delayMs + graceMs,
    error,
    progress: progressed && journal ? journal.progress : null,
    ...journal?.losses,
    ...(!journal?.lostStep && uncounted(reason)),
    workedMs: heartbeat.workedMs,
  }
  const { id, lease } = execution
  const hasFailed = error !== null
  return engine.executions.release({ id, owner: lease.owner, ...released }).then(
    () => ({ kind: 'released', progressed, hasFailed, delayMs }),
    () => ({ kind: 'released', progressed, hasFailed, delayMs: Math.max(delayMs, leaseMs) }),
  )
}

/** Until the next attempt: the more of them have failed since the last checkpoint, the longer. */
function delayOf({ engine, execution, journal }: Attempt, reason: StopReason): number {
  if (reason.kind === 'WorkerShuttingDown') return 0
  if (reason.kind === 'WaitingForResult') return reason.delayMs
  const { attemptsSinceProgress, outages } = execution
  return backoffMs(timesOf(engine), {
    failures: journal?.hasGrown ? 1 : attemptsSinceProgress + outages,
    retryAfterMs: (reason.kind === 'RetryableError' && reason.retryAfterMs) || 0,
    jitter: Math.random(),
  })
}
