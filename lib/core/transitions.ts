import type {
  Execution,
  ExecutionError,
  Lease,
  LostStep,
  Outcome,
  PendingEvent,
  Progress,
  SuspendedExecution,
  Usage,
} from './execution.ts'
import { MAX_ATTEMPTS } from './limits.ts'
import type { Suspension } from './wait.ts'

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

const PROGRESSED = { attemptsSinceProgress: 0, outages: 0 } satisfies Changes

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

/** The end of a wait: `waitedMs` is right only while the suspension lasts that began at `suspendedAt`. */
export type EndOfWait = { suspendedAt: number; waitedMs: number }

/** That of an execution that ends while it is suspended; null if it is not. */
export const endOfWait = (
  { suspension, ...times }: Pick<Execution, 'suspension' | 'startedAt' | 'waitedMs'>,
  finishedAt: string,
): EndOfWait | null =>
  suspension && {
    suspendedAt: suspension.at,
    waitedMs: waitedUntil({ suspension, ...times }, Date.parse(finishedAt)),
  }

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

/**
 * Of a suspended execution whose events are handled: its timer is due at `until` from now on, unless somebody has moved
 * it, who wants it to be resumed soon.
 */
export const clearEvents = (
  { suspension, openUntil }: Pick<SuspendedExecution, 'suspension' | 'openUntil'>,
  until: number,
): Transition => ({
  guard: { suspendedAt: suspension.at, ...(openUntil !== null && { openUntil }) },
  set: { openUntil: until, pendingEvents: [] },
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

/** Whether the guard permits a transition; stores express the same condition in their writes. */
export function isPermitted(execution: Execution, guard: Guard): boolean {
  const { status, lease, organizationId, openUntil, deadlineAt, suspension } = execution
  const isFree = suspension === null && (lease === null || lease.expiresAt < (guard.unleasedAt ?? 0))
  return (
    (status === 'IN_PROGRESS') !== (guard.isFinal ?? false) &&
    (guard.organizationId === undefined || guard.organizationId === organizationId) &&
    (guard.owner === undefined || guard.owner === lease?.owner) &&
    (guard.unleasedAt === undefined || isFree) &&
    (guard.openUntil === undefined || guard.openUntil === openUntil) &&
    (guard.deadlineAt === undefined || guard.deadlineAt === deadlineAt) &&
    (guard.suspendedAt === undefined || guard.suspendedAt === suspension?.at)
  )
}

/** The execution after a transition whose guard was checked. */
export function applyTransition(execution: Execution, { set, add = {}, claimedAt }: Transition): Execution {
  const counted = Object.entries(add).map(([name, added]) => [name, execution[name as Counter] + added])
  const started = claimedAt !== undefined && { startedAt: execution.startedAt ?? claimedAt }
  return { ...execution, ...set, ...Object.fromEntries(counted), ...started }
}

export const DEADLINE_EXCEEDED: ExecutionError = {
  code: 'DeadlineExceeded',
  message: 'The execution did not finish before its deadline.',
}

/** The error of a run whose attempts without progress are used up. */
export function attemptsExhausted({ lastError }: Pick<Execution, 'lastError'>): ExecutionError {
  return (
    lastError ?? {
      code: 'AttemptsExhausted',
      message: `${MAX_ATTEMPTS} attempts failed without progress: the worker died each time, or the database was not available to it.`,
    }
  )
}

/** The error of an attempt that computed a step in vain. `reason`: the name of the database's error. */
export const stepNotStored = ({ number }: LostStep, reason: string): ExecutionError => ({
  code: 'StepNotStored',
  message: `Step ${number} was computed, but the database did not store it (${reason}).`,
  step: number,
})

/** The error of a run that may lose no further step; null if it may. Progress in between changes nothing. */
export function findExcessiveLoss(lost: LostStep[], lastError: ExecutionError | null): ExecutionError | null {
  if (lost.length < MAX_ATTEMPTS) return null
  const message = `${lost.length} attempts each computed a step that was lost. ${lastError?.message ?? ''}`
  return { code: 'StepNotStored', message: message.trim(), step: lost.at(-1)?.number }
}

/**
 * Whether a dead-lettered message is replaced by a new one. A message can exceed maxReceiveCount with fewer attempts at
 * its run: the run made progress in between, or workers could not claim it because DynamoDB or Lambda throttled them.
 */
export const hasAttemptsLeft = ({ attemptsSinceProgress, lostSteps }: Execution): boolean =>
  attemptsSinceProgress < MAX_ATTEMPTS && lostSteps.length < MAX_ATTEMPTS

/** Characters of a text, and items of a list. The second pair is for errors that the first one leaves too large. */
const LIMITS = [
  { characters: 8_000, items: 100 },
  { characters: 500, items: 10 },
]
type Limits = (typeof LIMITS)[number]
const MAX_DETAILS_BYTES = 64_000

/** An error that fits into a record: long texts and lists are shortened; details that remain too large are left out. */
function limitError(error: ExecutionError): ExecutionError {
  for (const limits of LIMITS) {
    const limited = limit(error, limits) as ExecutionError
    if (new TextEncoder().encode(JSON.stringify(limited)).length <= MAX_DETAILS_BYTES) return limited
  }
  return { code: error.code, message: limitText(error.message, LIMITS[0] as Limits) }
}

function limit(value: unknown, limits: Limits): unknown {
  if (typeof value === 'string') return limitText(value, limits)
  if (Array.isArray(value)) return value.slice(0, limits.items).map((item) => limit(item, limits))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, limit(member, limits)]))
}

function limitText(text: string, { characters }: Limits): string {
  if (text.length <= characters) return text
  return `${text.slice(0, characters).toWellFormed()}… (${text.length} characters)`
}
