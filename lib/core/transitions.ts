import type { Execution, LostStep, Outcome, Progress } from './execution.ts'
import { type ExecutionError, limitError } from './execution-errors.ts'
import type { Lease } from './lease-times.ts'
import type { Usage } from './model-usage.ts'

/** Preconditions of a write, beside the execution being open, unless `isFinal`. All that are present must hold. */
export type Guard = {
  /** The execution is final instead of open. */
  isFinal?: true
  organizationId?: string
  /** The worker that must hold the lease. */
  owner?: string
  /** No lease may be live at this time (milliseconds since the epoch), and the execution must not be suspended. */
  unleasedAt?: number
  /** The values that these fields must still have. */
  openUntil?: number
  deadlineAt?: number
  /** When the suspension began that must still last. */
  suspendedAt?: number
}

/** The fields set by a transition. */
export type Changes = Partial<Omit<Execution, 'id' | 'organizationId' | 'agentId' | 'versionId' | 'input'>>

type Counter = 'attempts' | 'attemptsSinceProgress' | 'outages'

/** A state change: one conditional write that succeeds or fails as a whole. `add` changes counters. */
export type Transition = {
  guard: Guard
  set: Changes
  add?: Partial<Record<Counter, number>>
  claimedAt?: string
}

/** Takes the lease of an execution without a worker. `openUntil` is left to the first renewal that needs it later. */
export function claim(lease: Lease, now: number): Transition {
  return {
    guard: { unleasedAt: now },
    set: { lease },
    add: { attempts: 1, attemptsSinceProgress: 1 },
    claimedAt: new Date(now).toISOString(),
  }
}

export type Renewal = {
  lease: Lease
  /** When the sweeper checks the execution, if that changes. */
  openUntil?: number
  /** Resets the counters of attempts without progress. */
  progress?: Progress
  /** The progress was made before this attempt, which therefore counts. */
  isEarlier?: boolean
  learnedFrom?: string[]
  callbackSecret?: string
  /** All of the run so far. */
  lostUsage?: Usage
  /** When the run began after it had waited for another one. */
  startedAt?: string
  /** All of the run so far. */
  workedMs?: number
}

/** Extends the lease. */
export function renew({ progress, isEarlier, workedMs, ...changed }: Renewal): Transition {
  const set = {
    ...changed,
    ...(workedMs && { workedMs }),
    ...(progress && { ...progress, ...PROGRESSED, lastError: null }),
    ...(progress && isEarlier && { attemptsSinceProgress: 1 }),
  }
  return { guard: { owner: changed.lease.owner }, set }
}

/** Readers in other processes follow the responses of the run. Disturbs no worker. */
export const watch = (organizationId: string, until: number): Transition => ({
  guard: { organizationId },
  set: { watchedUntil: until },
})

export const PROGRESSED = { attemptsSinceProgress: 0, outages: 0 } satisfies Changes

/** What a worker leaves to the next one. */
export type Release = {
  /** When the sweeper re-enqueues the execution. */
  until: number
  /** The error that ended the attempt; null if there is none to show. */
  error: ExecutionError | null
  /** Null if this worker has stored no step. */
  progress?: Progress | null
  /** All of the run so far. */
  lostSteps?: LostStep[]
  lostUsage?: Usage
  workedMs?: number
  /** False if the attempt is not the run's own failure: it waits for another execution, or an outage ended it. */
  isCounted?: boolean
  /** It waits for another execution: its time begins with the next claim. */
  isWaiting?: boolean
  /** An attempt that is not counted: the database did not respond. The more of them, the longer the next delay. */
  isOutage?: boolean
}

/** Releases the lease so that another worker can continue. */
export function release(
  owner: string,
  { until, error, progress, workedMs, isCounted = true, isWaiting, isOutage, ...lost }: Release,
): Transition {
  const set = {
    ...lost,
    ...{ lease: null, openUntil: until },
    ...(error && { lastError: limitError(error) }),
    ...(workedMs && { workedMs }),
    ...(isWaiting && { startedAt: null }),
    ...(progress && { ...progress, ...PROGRESSED }),
  }
  const uncounted = { attemptsSinceProgress: -1, ...(isOutage && { outages: 1 }) }
  return { guard: { owner }, set, ...(!isCounted && !progress && { add: uncounted }) }
}

/** The end of a wait: `waitedMs` is right only while the suspension lasts that began at `suspendedAt`. */
export type EndOfWait = { suspendedAt: number; waitedMs: number }

/** @param staysListed the sweeper looks at it again, to do what follows from its end */
export function finish(
  owner: string,
  { outcome, finishedAt, staysListed }: { outcome: Outcome; finishedAt: string; staysListed?: boolean },
): Transition {
  const error = outcome.status === 'ERROR' ? limitError(outcome.error) : null
  const recovered = outcome.status === 'SUCCESS' && { lastError: null }
  const closed = staysListed ? RELEASED : CLOSED
  return { guard: { owner }, set: { output: null, ...outcome, error, finishedAt, ...recovered, ...closed } }
}

type Ending = {
  error: ExecutionError
  finishedAt: string
  progress?: (Progress & { lostSteps?: LostStep[] }) | null
  staysListed?: boolean
  /** Then it ends only if it is still suspended. */
  wait?: EndOfWait | null
}

/** Ends an execution in ERROR, regardless of its lease unless the guard says otherwise. */
export function end(
  guard: Pick<Guard, 'organizationId' | 'unleasedAt' | 'openUntil' | 'deadlineAt'>,
  { error, finishedAt, progress, staysListed, wait }: Ending,
): Transition {
  const closed = staysListed ? { ...RELEASED, openUntil: Date.parse(finishedAt) } : CLOSED
  return {
    guard: { ...guard, ...(wait && { suspendedAt: wait.suspendedAt }) },
    set: {
      ...{ status: 'ERROR', error: limitError(error), finishedAt },
      ...(wait && { waitedMs: wait.waitedMs }),
      ...progress,
      ...closed,
    },
  }
}

/** Of a final execution that has stayed listed: when the sweeper looks at it again; null if never. */
export const settle = (openUntil: number, until: number | null): Transition => ({
  guard: { isFinal: true, openUntil },
  set: { openUntil: until },
})

/** Postpones the next sweep of an execution that no worker holds. `now` is null for a suspended one. */
export function postpone(
  openUntil: number,
  { until, now }: { until: number; now: number | null },
): Transition {
  return { guard: { openUntil, ...(now !== null && { unleasedAt: now }) }, set: { openUntil: until } }
}

/** Makes an execution that no worker holds due for the next sweep, with a new deadline: if it waits, at its time. */
export function resume(
  { suspension }: Pick<Execution, 'suspension'>,
  { dueAt, deadlineAt, now }: { dueAt: number; deadlineAt: number; now: number },
): Transition {
  if (suspension) return { guard: { suspendedAt: suspension.at }, set: { deadlineAt } }
  return { guard: { unleasedAt: now }, set: { lease: null, openUntil: dueAt, deadlineAt } }
}

const RELEASED = { lease: null, suspension: null } satisfies Changes
const CLOSED = { ...RELEASED, openUntil: null } satisfies Changes

/** The execution after a transition whose guard was checked. */
export function applyTransition(execution: Execution, { set, add = {}, claimedAt }: Transition): Execution {
  const counted = Object.entries(add).map(([name, added]) => [name, execution[name as Counter] + added])
  const started = claimedAt !== undefined && { startedAt: execution.startedAt ?? claimedAt }
  return { ...execution, ...set, ...Object.fromEntries(counted), ...started }
}
