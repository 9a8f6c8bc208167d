import type { ExecutionError } from '../../core/execution.ts'

/** Something outside of the run failed and may work later: the run is given back, to go on after a while. */
export class RetryableError extends Error {
  /** What the execution ends with if it never passes. */
  readonly error: ExecutionError
  /** Milliseconds that whoever failed asks to wait; null when it does not say. */
  readonly retryAfterMs: number | null

  constructor(error: ExecutionError, retryAfterMs: number | null) {
    super(error.message)
    this.error = error
    this.retryAfterMs = retryAfterMs
  }
}
