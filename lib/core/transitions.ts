import type { Execution, ExecutionError, Lease, Outcome } from './execution.ts'
import { MAX_ATTEMPTS } from './limits.ts'
import type { Progress } from './ports.ts'

/** What a write demands of an execution beside that it is open. All that are given must hold. */
export type Guard = {
  organizationId?: string
  /** Who must hold the lease. */
  owner?: string
  /** The time, in milliseconds since the epoch, at which no lease may be live. */
  unleasedAt?: number
  /** What `openUntil` must still be. */
  openUntil?: number
}

/** The fields that a transition sets. */
export type Changes = Partial<
  Pick<
    Execution,
    | 'status'
    | 'output'
    | 'error'
    | 'finishedAt'
    | 'steps'
    | 'usage'
    | 'model'
    | 'lease'
    | 'openUntil'
    | 'idleAttempts'
    | 'lastFault'
    | 'cached'
    | 'cachedExecutionId'
    | 'learnedFrom'
  >
>

/** A change of an execution's state: carried out whole when the guard permits it, else not at all. */
export type Transition = { guard: Guard; set: Changes; claimedAt?: string }

/** Takes the lease of an execution that nobody holds. */
export function claim(lease: Lease, now: number): Transition {
  return { guard: { unleasedAt: now }, set: held(lease), claimedAt: new Date(now).toISOString() }
}

/** Extends a lease. With progress, a step is about to be stored: the attempts before it count no more. */
export function renew(lease: Lease, progress?: Progress, learnedFrom?: string[]): Transition {
  const made = progress && { ...progress, idleAttempts: 0, lastFault: null }
  const learned = learnedFrom && { learnedFrom }
  return { guard: { owner: lease.owner }, set: { ...held(lease), ...made, ...learned } }
}

/**
 * Gives a lease back for another worker to go on. From `until` on the sweeper sees to it that one does. One that only
 * `waits` for another execution has not failed: its attempts are not counted.
 */
export function release(
  owner: string,
  { until, fault, waits }: { until: number; fault: ExecutionError | null; waits?: boolean },
): Transition {
  const set = {
    lease: null,
    openUntil: until,
    ...(fault && { lastFault: fault }),
    ...(waits && { idleAttempts: 0 }),
  }
  return { guard: { owner }, set }
}

export function finish(owner: string, outcome: Outcome, finishedAt: string): Transition {
  return { guard: { owner }, set: { output: null, error: null, ...outcome, finishedAt, ...CLOSED } }
}

/** Ends an execution in ERROR whoever holds it; with `unleasedAt` only when nobody does. */
export function end(
  guard: Pick<Guard, 'organizationId' | 'unleasedAt'>,
  error: ExecutionError,
  finishedAt: string,
): Transition {
  return { guard, set: { status: 'ERROR', error, finishedAt, ...CLOSED } }
}

/** Puts the next look of the sweeper off. */
export function postpone(openUntil: number, until: number): Transition {
  return { guard: { openUntil }, set: { openUntil: until } }
}

const held = (lease: Lease): Changes => ({ lease, openUntil: lease.expiresAt })

const CLOSED = { lease: null, openUntil: null } satisfies Changes

/** Whether a transition with this guard may be carried out. */
export function permits(execution: Execution, guard: Guard): boolean {
  const { status, lease, organizationId, openUntil } = execution
  return (
    status === 'IN_PROGRESS' &&
    (guard.organizationId === undefined || guard.organizationId === organizationId) &&
    (guard.owner === undefined || guard.owner === lease?.owner) &&
    (guard.unleasedAt === undefined || lease === null || lease.expiresAt < guard.unleasedAt) &&
    (guard.openUntil === undefined || guard.openUntil === openUntil)
  )
}

/** The execution after a transition; the guard has been seen to. */
export function applied(execution: Execution, { set, claimedAt }: Transition): Execution {
  const claimed = claimedAt !== undefined && {
    startedAt: execution.startedAt ?? claimedAt,
    attempts: execution.attempts + 1,
    idleAttempts: execution.idleAttempts + 1,
  }
  return { ...execution, ...set, ...claimed }
}

/** Why an execution ends whose message was delivered as often as it may be. */
export function exhausted({ lastFault, attempts }: Execution): ExecutionError {
  if (lastFault) return lastFault
  const message =
    attempts === 0
      ? `The run’s message was delivered ${MAX_ATTEMPTS} times, and no worker took it up.`
      : `The run was taken up ${MAX_ATTEMPTS} times without a step forward: its worker died each time.`
  return { code: 'AttemptsExhausted', message }
}

/** Whether a run whose message is dead deserves another: its workers died, but there were steps forward in between. */
export function deservesAnother({ lastFault, attempts, idleAttempts }: Execution): boolean {
  return lastFault === null && attempts > 0 && idleAttempts < MAX_ATTEMPTS
}
