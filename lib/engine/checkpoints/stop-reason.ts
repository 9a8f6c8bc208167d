import { Interruption } from '../../core/errors.ts'
import type { LostStep } from '../../core/execution.ts'
import { type ExecutionError, stepNotStored } from '../../core/execution-errors.ts'
import type { Release } from '../../core/transitions.ts'
import type { Wait } from '../../core/wait.ts'

/** Why an attempt stops before its run has an outcome. */
export type StopReason =
  /** Another worker has the lease, or the execution is final. */
  | { kind: 'LeaseLost' }
  /** The worker's time is up; another one continues at the last checkpoint. */
  | { kind: 'WorkerShuttingDown' }
  /** Another execution is computing the same result; check again after `delayMs`. */
  | { kind: 'WaitingForResult'; delayMs: number }
  /** The run is suspended until something of this arrives. */
  | { kind: 'Suspended'; waits: Wait[] }
  /** The run is retried until its deadline, unless it loses steps. `reason`: the name of the database's error. */
  | { kind: 'DatabaseUnavailable'; reason: string }
  /**
   * A model or a tool server failed in a way that may succeed later. `error` ends the execution if it never does;
   * `retryAfterMs` is the dependency's Retry-After.
   */
  | { kind: 'RetryableError'; error: ExecutionError; retryAfterMs: number | null }
  /** A defect, or a permission that is missing. */
  | { kind: 'UnexpectedError'; error: ExecutionError }

/** Thrown through a run to stop its attempt. */
export class AttemptStopped extends Interruption {
  override readonly name = 'AttemptStopped'
  readonly reason: StopReason

  constructor(reason: StopReason) {
    super(reason.kind === 'RetryableError' ? reason.error.message : reason.kind)
    this.reason = reason
  }
}

export const leaseLost = (): AttemptStopped => new AttemptStopped({ kind: 'LeaseLost' })

export const retryableError = (error: ExecutionError, retryAfterMs: number | null = null): AttemptStopped =>
  new AttemptStopped({ kind: 'RetryableError', error, retryAfterMs })

/** The error that the record shows; null for a reason that is not a failure of the run. */
export function toRecordedError(
  reason: StopReason,
  lostStep: LostStep | null | undefined,
): ExecutionError | null {
  if (reason.kind === 'RetryableError' || reason.kind === 'UnexpectedError') return reason.error
  if (reason.kind === 'DatabaseUnavailable' && lostStep) return stepNotStored(lostStep, reason.reason)
  return null
}

/** How a release counts an attempt that is not the failure of its run. */
export function uncounted({ kind }: StopReason): Pick<Release, 'isCounted' | 'isOutage' | 'isWaiting'> {
  if (kind === 'WaitingForResult') return { isCounted: false, isWaiting: true }
  return kind === 'DatabaseUnavailable' ? { isCounted: false, isOutage: true } : {}
}

/** What ended an attempt, without its message, which may contain data of clients. */
export const unexpectedError = (cause: unknown): ExecutionError => ({
  code: 'InternalError',
  message: `The service failed unexpectedly while it ran the agent (${nameOf(cause)}). Its log has the cause, with the ID of the execution.`,
})

export const nameOf = (cause: unknown): string =>
  cause instanceof Error && /^\w{1,64}$/.test(cause.name) ? cause.name : 'Error'

/** What happens to a run after a retryable error of a model, a tool server or the database. */
export type RetryPolicy =
  /** Asynchronous: the worker releases the run, and its message becomes visible after a backoff. */
  | { mode: 'requeue' }
  /** A caller is waiting: the worker retries in place, then the run ends in ERROR. */
  | { mode: 'inline' }

export const INLINE: RetryPolicy = { mode: 'inline' }
