import type { Execution, ExecutionError, Lease, Outcome, Progress } from './execution.ts'
import { limitError } from './limit-error.ts'
import { MAX_ATTEMPTS } from './limits.ts'

/** Preconditions of a write, in addition to the execution being open. All that are present must hold. */
export type Guard = {
  organizationId?: string
  /** The worker that must hold the lease. */
  owner?: string
  /** No lease may be live at this time (milliseconds since the epoch). */
  unleasedAt?: number
  /** The value that `openUntil` must still have. */
  openUntil?: number
}

/** The fields set by a transition. */
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
    | 'attemptsSinceProgress'
    | 'lastError'
    | 'cached'
    | 'cachedExecutionId'
    | 'learnedFrom'
    | 'logs'
  >
>

/** A state change: one conditional write that succeeds or fails as a whole. */
export type Transition = { guard: Guard; set: Changes; claimedAt?: string }

/** Takes the lease of an execution that no worker holds. `openUntil` is left to the first renewal that needs a later one. */
export function claim(lease: Lease, now: number): Transition {
  return { guard: { unleasedAt: now }, set: { lease }, claimedAt: new Date(now).toISOString() }
}

export type Renewal = {
  lease: Lease
  /** When the sweeper checks the execution, if that changes. */
  openUntil?: number
  /** Resets the counter of attempts without progress. */
  progress?: Progress
  learnedFrom?: string[]
}

/** Extends the lease. */
export function renew({ lease, openUntil, progress, learnedFrom }: Renewal): Transition {
  const set = {
    lease,
    ...(openUntil !== undefined && { openUntil }),
    ...(progress && { ...progress, attemptsSinceProgress: 0, lastError: null }),
    ...(learnedFrom && { learnedFrom }),
  }
  return { guard: { owner: lease.owner }, set }
}

type Release = {
  until: number
  error: ExecutionError | null
  /** What this worker has added to. */
  progress?: Progress | null
  isCounted?: boolean
}

/**
 * Releases the lease so that another worker can continue; from `until` on the sweeper re-enqueues the execution. A run
 * that waits for another execution or for the database has not failed, so its attempts are not counted.
 */
export function release(owner: string, { until, error, progress, isCounted }: Release): Transition {
  const set = {
    lease: null,
    openUntil: until,
    ...(error && { lastError: limitError(error) }),
    ...progress,
    ...((isCounted === false || progress) && { attemptsSinceProgress: 0 }),
  }
  return { guard: { owner }, set }
}

export function finish(owner: string, outcome: Outcome, finishedAt: string): Transition {
  const error = outcome.status === 'ERROR' ? limitError(outcome.error) : null
  return { guard: { owner }, set: { output: null, ...outcome, error, finishedAt, ...CLOSED } }
}

/** Ends an execution in ERROR, regardless of its lease; with `unleasedAt`, only if no lease is live. */
export function end(
  guard: Pick<Guard, 'organizationId' | 'unleasedAt'>,
  { error, finishedAt, progress }: { error: ExecutionError; finishedAt: string; progress?: Progress | null },
): Transition {
  return { guard, set: { status: 'ERROR', error: limitError(error), finishedAt, ...progress, ...CLOSED } }
}

/** Postpones the next sweep of an execution that no worker holds. */
export function postpone(openUntil: number, { until, now }: { until: number; now: number }): Transition {
  return { guard: { openUntil, unleasedAt: now }, set: { openUntil: until } }
}

const CLOSED = { lease: null, openUntil: null } satisfies Changes

/** Whether the guard permits a transition; stores express the same condition in their writes. */
export function isPermitted(execution: Execution, guard: Guard): boolean {
  const { status, lease, organizationId, openUntil } = execution
  return (
    status === 'IN_PROGRESS' &&
    (guard.organizationId === undefined || guard.organizationId === organizationId) &&
    (guard.owner === undefined || guard.owner === lease?.owner) &&
    (guard.unleasedAt === undefined || lease === null || lease.expiresAt < guard.unleasedAt) &&
    (guard.openUntil === undefined || guard.openUntil === openUntil)
  )
}

/** The execution after a transition whose guard was checked. */
export function applyTransition(execution: Execution, { set, claimedAt }: Transition): Execution {
  const claimed = claimedAt !== undefined && {
    startedAt: execution.startedAt ?? claimedAt,
    attempts: execution.attempts + 1,
    attemptsSinceProgress: execution.attemptsSinceProgress + 1,
  }
  return { ...execution, ...set, ...claimed }
}

export const DEADLINE_EXCEEDED: ExecutionError = {
  code: 'DeadlineExceeded',
  message: 'The execution did not finish before its deadline.',
}

/** The error of a run whose attempts without progress are used up. */
export function attemptsExhausted({ lastError }: Execution): ExecutionError {
  return (
    lastError ?? {
      code: 'AttemptsExhausted',
      message: `${MAX_ATTEMPTS} attempts failed without progress: the worker died each time.`,
    }
  )
}

/**
 * Whether a dead-lettered message is replaced by a new one. A message can exceed maxReceiveCount with fewer attempts at its
 * run: the run made progress in between, or workers could not claim it because DynamoDB or Lambda throttled them.
 */
export const hasAttemptsLeft = ({ attemptsSinceProgress }: Execution): boolean =>
  attemptsSinceProgress < MAX_ATTEMPTS
