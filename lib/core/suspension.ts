import type { Execution, LostStep, Progress, SuspendedExecution } from './execution.ts'
import type { Lease } from './lease-times.ts'
import type { Usage } from './model-usage.ts'
import { type EndOfWait, PROGRESSED, type Transition } from './transitions.ts'
import type { PendingEvent, Suspension } from './wait.ts'

/** What a worker stores when its run has to wait. `deadlineAt` moves with the wait. */
export type Suspend = {
  suspension: Suspension
  /** When the timer, or the sweeper, looks at it. */
  openUntil: number
  deadlineAt: number
  /** With that of this suspension; those that the record has by default. */
  pendingEvents?: PendingEvent[]
  /** Null if no step is stored. */
  progress?: Progress | null
  lostSteps?: LostStep[]
  lostUsage?: Usage
  workedMs?: number
}

/** Releases the lease until what the run waits for has arrived: no claim succeeds before `wake`. */
export function suspend(owner: string, { progress, ...params }: Suspend): Transition {
  const set = { lease: null, lastError: null, ...params, ...progress, ...PROGRESSED }
  return { guard: { owner }, set }
}

/**
 * Takes the lease of a suspended execution, whose deadline continues where it stopped. The time before its start, which
 * it was queued for, is no part of the run.
 */
export function wake(
  {
    suspension,
    startedAt,
    waitedMs,
    deadlineAt,
  }: Pick<SuspendedExecution, 'suspension' | 'startedAt' | 'waitedMs' | 'deadlineAt'>,
  { lease, openUntil, now }: { lease: Lease; openUntil: number; now: number },
): Transition {
  return {
    guard: { suspendedAt: suspension.at },
    set: {
      lease,
      suspension: null,
      waitedMs: waitedUntil({ suspension, startedAt, waitedMs }, now),
      openUntil,
      deadlineAt: now + Math.max(deadlineAt - suspension.until, 0),
    },
    add: { attempts: 1, attemptsSinceProgress: 1 },
    ...(startedAt === null && { claimedAt: new Date(now).toISOString() }),
  }
}

/** For how long a suspended execution has waited at a time. */
const waitedUntil = (
  { suspension, startedAt, waitedMs }: Pick<SuspendedExecution, 'suspension' | 'startedAt' | 'waitedMs'>,
  now: number,
): number =>
  // At least 1, whatever the clocks say: it tells that the run has waited.
  startedAt === null ? waitedMs : waitedMs + Math.max(now - suspension.at, 1)

/** The end of the wait of an execution that ends while it is suspended; null if it is not. */
export const endOfWait = (
  { suspension, ...times }: Pick<Execution, 'suspension' | 'startedAt' | 'waitedMs'>,
  finishedAt: string,
): EndOfWait | null =>
  suspension && {
    suspendedAt: suspension.at,
    waitedMs: waitedUntil({ suspension, ...times }, Date.parse(finishedAt)),
  }

/**
 * The events of a suspended execution are handled: its timer is due at `until` from now on, unless another process has
 * moved it in order to resume the execution soon.
 */
export const clearEvents = (
  { suspension, openUntil }: Pick<SuspendedExecution, 'suspension' | 'openUntil'>,
  until: number,
): Transition => ({
  guard: { suspendedAt: suspension.at, ...(openUntil !== null && { openUntil }) },
  set: { openUntil: until, pendingEvents: [] },
})
