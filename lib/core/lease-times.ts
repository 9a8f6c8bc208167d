import { LEASE_MS } from './limits.ts'

/** What a worker does when, in milliseconds. All follows from the lease, so that a test can shorten them together. */
export type LeaseTimes = {
  leaseMs: number
  heartbeatMs: number
  /** How long a message that is being worked on stays hidden: a little longer than the lease, which is over when it returns. */
  hiddenMs: number
  /** How long an execution that was enqueued may wait before the sweeper enqueues it again. */
  graceMs: number
  /** The wait of a run that was given back after its first passing fault. */
  backoffMs: number
  /** The wait of a worker that tries again by itself. */
  firstWaitMs: number
}

export function leaseTimes(leaseMs: number = LEASE_MS): LeaseTimes {
  return {
    leaseMs,
    heartbeatMs: leaseMs / 6,
    hiddenMs: leaseMs + leaseMs / 12,
    graceMs: leaseMs,
    backoffMs: leaseMs / 12,
    firstWaitMs: leaseMs / 120,
  }
}

/** Threefold from each delivery of a message to the next, so that five take a few minutes. */
const GROWTH = 3
const MAX_BACKOFF_MS = 900_000

type Backoff = {
  /** Which delivery of its message met the fault, from 1. */
  delivery: number
  /** Milliseconds that whoever failed asks for. */
  askedMs: number
  /** Between 0 and 1. */
  jitter: number
}

/**
 * How long a run waits that was given back after a passing fault.
 * https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/
 */
export function backoffMs({ backoffMs: first }: LeaseTimes, { delivery, askedMs, jitter }: Backoff): number {
  const own = first * GROWTH ** (delivery - 1) * (0.75 + jitter / 2)
  return Math.min(Math.max(own, askedMs), MAX_BACKOFF_MS)
}

/** The longest that the sweeper leaves an execution in a backlog alone: its message may have been lost. */
const MAX_GRACE = 5

/** When the sweeper looks again: the older a queued execution, the later, so that a backlog does not multiply itself. */
export function nextSweep({ graceMs }: LeaseTimes, createdAt: number, now: number): number {
  return now + Math.min(Math.max(now - createdAt, graceMs), graceMs * MAX_GRACE)
}
