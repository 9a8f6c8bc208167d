/** A worker's exclusive right to write an execution. Times are milliseconds since the epoch. */
export type Lease = { owner: string; expiresAt: number }

/** Lease duration without a heartbeat. */
export const LEASE_MS = 60_000

/** First delay before a run is retried after a retryable error. */
export const RETRY_BACKOFF_MS = 5_000

/**
 * Delay until content that may have no record is checked. Longer than a lease, the writes in flight at its end and the
 * 5 minutes for which AWS accepts a signed request:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html
 */
export const CLEANUP_DELAY_MS = 8 * 60 * 1000

/** Timing of leases and retries, in milliseconds. Two values determine all of it, so that tests can shorten it. */
export type LeaseTimes = {
  leaseMs: number
  heartbeatMs: number
  /** Visibility timeout of a message in process: longer than the lease, which has expired when SQS redelivers it. */
  visibilityMs: number
  /** After how long a run's message gets that timeout. A worker that dies before is replaced by the sweeper. */
  visibilityDelayMs: number
  /**
   * How long an execution may stay without a live lease before the sweeper re-enqueues it. Longer than a lease, so that
   * most runs end before the time of their next check has to be moved.
   */
  graceMs: number
  /** Delay of a requeued run after its first retryable error. */
  backoffMs: number
  /** First delay of a retry inside the worker. */
  retryDelayMs: number
  /** For how long a worker retries a model request while somebody waits for the result. */
  retryWindowMs: number
}

const MAX_RETRY_WINDOW_MS = 60_000
const MAX_VISIBILITY_DELAY_MS = 1_000

/** @param backoffMs does not derive from the lease: an outage of a model is not shorter because the lease is */
export function leaseTimes(leaseMs: number = LEASE_MS, backoffMs: number = RETRY_BACKOFF_MS): LeaseTimes {
  return {
    leaseMs,
    heartbeatMs: leaseMs / 6,
    visibilityMs: leaseMs + leaseMs / 12,
    visibilityDelayMs: Math.min(leaseMs / 15, MAX_VISIBILITY_DELAY_MS),
    graceMs: leaseMs * 1.5,
    backoffMs,
    retryDelayMs: backoffMs / 10,
    retryWindowMs: Math.min(backoffMs * 12, MAX_RETRY_WINDOW_MS),
  }
}

/** Growth from one attempt to the next: five attempts take a few minutes. */
const GROWTH = 3
const MAX_BACKOFF_MS = 900_000

type Backoff = {
  /** Which attempt in a row has failed, from 1. */
  failures: number
  /** Retry-After of the failed dependency, in milliseconds; 0 if it gave none. */
  retryAfterMs: number
  /** Between 0 and 1. */
  jitter: number
}

/**
 * Delay before a run is retried after a retryable error: exponential backoff with jitter, at least Retry-After.
 * https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
 */
export function backoffMs({ backoffMs: first }: LeaseTimes, { failures, retryAfterMs, jitter }: Backoff) {
  const delayMs = first * GROWTH ** (failures - 1) * (0.75 + jitter / 2)
  return Math.min(Math.max(delayMs, retryAfterMs), MAX_BACKOFF_MS)
}

/** Upper bound of the sweep interval of a queued execution, in grace periods: its message may have been lost. */
export const MAX_GRACE = 5

/** When the sweeper checks a queued execution again: the older it is, the later. A backlog must not multiply. */
export function nextSweep({ graceMs }: LeaseTimes, createdAt: number, now: number): number {
  return now + Math.min(Math.max(now - createdAt, graceMs), graceMs * MAX_GRACE)
}
