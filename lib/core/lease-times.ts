import { LEASE_MS } from './limits.ts'

/** What a worker does when, in milliseconds. All follows from the lease, so that a test can shorten them together. */
export type LeaseTimes = {
  leaseMs: number
  heartbeatMs: number
  /** How long a message that is being worked on stays hidden: a little longer than the lease, which is over when it returns. */
  hiddenMs: number
  /** How long an execution that was enqueued may wait before the sweeper enqueues it again. */
  graceMs: number
  /** The wait after the first passing fault. */
  backoffMs: number
}

export function leaseTimes(leaseMs: number = LEASE_MS): LeaseTimes {
  return {
    leaseMs,
    heartbeatMs: leaseMs / 6,
    hiddenMs: leaseMs + leaseMs / 12,
    graceMs: leaseMs,
    backoffMs: leaseMs / 12,
  }
}

/** Threefold from each delivery of a message to the next, so that five take a few minutes. */
const GROWTH = 3

/**
 * How long a message waits after its nth delivery has met a passing fault. `jitter` is between 0 and 1.
 * https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
 */
export function backoffMs({ backoffMs: first }: LeaseTimes, delivery: number, jitter: number): number {
  return first * GROWTH ** (delivery - 1) * (0.75 + jitter / 2)
}

/** The longest that the sweeper leaves an execution in a backlog alone: its message may have been lost. */
const LONGEST_GRACE = 5

/** When the sweeper looks again: the older a queued execution, the later, so that a backlog does not multiply itself. */
export function nextSweep({ graceMs }: LeaseTimes, createdAt: number, now: number): number {
  return now + Math.min(Math.max(now - createdAt, graceMs), graceMs * LONGEST_GRACE)
}
