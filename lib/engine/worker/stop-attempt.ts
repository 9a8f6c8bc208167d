import { Unavailable } from '../../core/errors.ts'
import { type ExecutionError, failure, type LostStep } from '../../core/execution.ts'
import { backoffMs } from '../../core/lease-times.ts'
import { findExcessiveLoss, type Release, stepNotStored } from '../../core/transitions.ts'
import { describeCause, logger } from '../../logger.ts'
import { AttemptStopped, type StopReason } from '../checkpoints/stop-reason.ts'
import { timesOf } from '../engine.ts'
import { type AttemptResult, endOf, lostStepsOf, type Run, writeOutcome } from './write-outcome.ts'

/** Releases a run whose attempt stopped before it had an outcome, or ends it if no other attempt may follow. Never throws. */
export async function stopAttempt(run: Run, cause: unknown): Promise<AttemptResult> {
  const reason = await toStopReason(run, cause)
  if (reason.kind === 'LeaseLost') return { kind: 'lost' }
  const error = findFinalError(run, reason)
  if (!error) return release(run, reason)
  const outcome = failure(error)
  const completed = await writeOutcome(run, outcome).catch(() => 'failed' as const)
  if (completed === 'failed') return release(run, reason)
  return completed ? endOf(run, completed, outcome) : { kind: 'lost' }
}

async function toStopReason({ execution }: Run, cause: unknown): Promise<StopReason> {
  if (cause instanceof AttemptStopped) return cause.reason
  if (cause instanceof Unavailable) return { kind: 'DatabaseUnavailable', reason: nameOf(cause.cause) }
  const ids = { executionId: execution.id, organizationId: execution.organizationId }
  logger.error('attempt failed', { ...ids, cause: describeCause(cause) })
  const { countFailedAttempt } = await import('../../metrics.ts')
  countFailedAttempt(ids)
  return { kind: 'UnexpectedError', error: unexpectedError(cause) }
}

/** What ended an attempt, without its message, which may contain data of clients. */
export const unexpectedError = (cause: unknown): ExecutionError => ({
  code: 'InternalError',
  message: `The service failed unexpectedly while it ran the agent (${nameOf(cause)}). Its log has the cause, with the ID of the execution.`,
})

const nameOf = (cause: unknown): string =>
  cause instanceof Error && /^\w{1,64}$/.test(cause.name) ? cause.name : 'Error'

/** Null if the run can be released. */
function findFinalError({ journal, retry }: Run, reason: StopReason): ExecutionError | null {
  const excess = journal?.lostStep && findExcessiveLoss(journal.lostSteps, errorOf(reason, journal.lostStep))
  if (excess) return excess
  return reason.kind === 'UnexpectedError' && retry.mode === 'inline' ? reason.error : null
}

/** The error that the record shows; null for a reason that is not a failure of the run. */
function errorOf(reason: StopReason, lostStep: LostStep | null | undefined): ExecutionError | null {
  if (reason.kind === 'RetryableError' || reason.kind === 'UnexpectedError') return reason.error
  if (reason.kind === 'DatabaseUnavailable' && lostStep) return stepNotStored(lostStep, reason.reason)
  return null
}

/** Best effort: a lease that is not released expires, and its attempt stays counted. */
async function release(run: Run, reason: StopReason): Promise<AttemptResult> {
  const { engine, execution, journal } = run
  const { executions, system } = engine
  const { leaseMs, graceMs } = timesOf(engine)
  const { id, lease } = execution
  const error = errorOf(reason, journal?.lostStep)
  const progressed = journal?.hasGrown ?? false
  const delayMs = delayOf(run, reason)
  const released: Release = {
    until: system.now() + delayMs + graceMs,
    error,
    progress: progressed && journal ? journal.progress : null,
    ...lostStepsOf(run),
    ...(!journal?.lostStep && uncounted(reason)),
  }
  const isKnown = await executions.release({ id, owner: lease.owner, ...released }).then(
    () => true,
    () => false,
  )
  return {
    kind: 'released',
    progressed,
    hasFailed: error !== null,
    delayMs: isKnown ? delayMs : Math.max(delayMs, leaseMs),
  }
}

function uncounted({ kind }: StopReason): Pick<Release, 'isCounted' | 'isOutage' | 'isWaiting'> {
  if (kind === 'WaitingForResult') return { isCounted: false, isWaiting: true }
  return kind === 'DatabaseUnavailable' ? { isCounted: false, isOutage: true } : {}
}

/** Until the next attempt: the more of them have failed since the last checkpoint, the longer. */
function delayOf({ engine, execution, journal }: Run, reason: StopReason): number {
  if (reason.kind === 'WorkerShuttingDown') return 0
  if (reason.kind === 'WaitingForResult') return reason.delayMs
  const { attemptsSinceProgress, outages } = execution
  return backoffMs(timesOf(engine), {
    failures: journal?.hasGrown ? 1 : attemptsSinceProgress + outages,
    retryAfterMs: (reason.kind === 'RetryableError' && reason.retryAfterMs) || 0,
    jitter: Math.random(),
  })
}
