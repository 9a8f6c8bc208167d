import { Interruption } from '../../core/errors.ts'
import type { ExecutionError } from '../../core/execution.ts'

/** Why an attempt stops before its run has an outcome. */
export type StopReason =
  /** Another worker has the lease, or the execution is final. */
  | { kind: 'LeaseLost' }
  /** The worker's time is up; another one continues at the last checkpoint. */
  | { kind: 'WorkerShuttingDown' }
  /** Another execution is computing the same result; check again after `delayMs`. */
  | { kind: 'WaitingForResult'; delayMs: number }
  /** Not the run's fault: it is retried until its deadline, unless it loses steps. `reason`: the name of the database's error. */
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

export const isShuttingDown = (error: unknown): boolean =>
  error instanceof AttemptStopped && error.reason.kind === 'WorkerShuttingDown'
