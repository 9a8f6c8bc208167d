/** What happens to a run after a retryable error of a model, a tool server or the database. */
export type RetryPolicy =
  /** Asynchronous: the worker releases the run, and its message becomes visible after a backoff. */
  | { mode: 'requeue' }
  /** A caller is waiting: the worker retries in place, then the run ends in ERROR. */
  | { mode: 'inline' }

export const INLINE: RetryPolicy = { mode: 'inline' }
