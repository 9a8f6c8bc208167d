import { LRUCache } from 'lru-cache'
import type { LeasedExecution, LostStep, Progress } from '../../core/execution.ts'
import { CANCELLED, type ExecutionError } from '../../core/execution-errors.ts'
import { DAY_MS, MAX_WAIT_DAYS as WAIT_DAYS } from '../../core/limits.ts'
import type { Usage } from '../../core/model-usage.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { System } from '../../core/ports/system.ts'
import { hasOwnMessage, type Suspension, type Wait } from '../../core/wait.ts'
import { type Environment, readSetting } from '../../environment.ts'
import { endExecution, hasFinalParent } from '../end-execution.ts'
import { type Engine, queuedOf, timesOf } from '../engine.ts'
import { hasArrived, waitLimitExceeded } from './wake.ts'

type Recorded = { progress: Progress | null; lostSteps?: LostStep[]; lostUsage?: Usage; workedMs?: number }

/**
 * Suspends a run: everything that its worker holds is free afterwards. Its deadline moves by the time that it waits.
 * @returns `lost` if another worker has the lease; the error that ends a run that may not wait
 * @throws Unavailable
 */
export async function suspend(
  engine: Engine,
  execution: LeasedExecution,
  waits: Wait[],
  recorded: Recorded,
): Promise<Suspension | 'lost' | ExecutionError> {
  const { executions, cache, system } = engine
  const maxWaitMs = maxWaitMsOf(engine)
  const at = system.now()
  const lastAt = at + maxWaitMs - execution.waitedMs
  const ends = waits.flatMap(({ until }) => (until === null ? [] : [Date.parse(until)]))
  const endsAt = Math.min(...ends, Number.POSITIVE_INFINITY)
  const onlyTime = waits.every(({ kind }) => kind === 'sleep' || kind === 'retry')
  if (lastAt <= at || (onlyTime && endsAt > lastAt)) return waitLimitExceeded(maxWaitMs)
  const until = Math.max(Math.min(endsAt, lastAt), at)
  const suspension = { at, until, waits }
  if (engine.maySuspend && !(await engine.maySuspend(execution.organizationId))) return TOO_MANY_SUSPENDED
  const isSuspended = await executions.suspend({
    execution,
    owner: execution.lease.owner,
    suspension,
    openUntil: timerOf(engine, suspension),
    deadlineAt: until + Math.max(execution.deadlineAt - at, 0),
    ...recorded,
  })
  if (!isSuspended) return 'lost'
  if (execution.cache) {
    const { key } = execution.cache
    await cache.drop({ key, executionId: execution.id }).catch(() => undefined)
  }
  return suspension
}

export const maxWaitMsOf = ({ maxWaitMs = WAIT_DAYS.default * DAY_MS }: Pick<Engine, 'maxWaitMs'>): number =>
  maxWaitMs

/** When the timer looks at what is due at `until`: after a message of its own must have been lost, if it has one. */
export const timerOf = (
  { times }: Pick<Engine, 'times'>,
  { at, until }: Pick<Suspension, 'at' | 'until'>,
): number => until + (hasOwnMessage({ at, until }) ? 2 * timesOf({ times }).graceMs : 0)

/**
 * What follows a suspension: the message that is its timer, if it is short, and the one that resumes it if what it
 * waits for has arrived before it was suspended. A child ends if its parent has ended before, which ends only children
 * that it finds.
 * @throws Unavailable; the run then needs a message as one that was released does
 */
export async function afterSuspension(
  engine: Pick<Engine, 'executions' | 'queue' | 'signals' | 'steps' | 'system'>,
  execution: Parameters<typeof hasFinalParent>[1] &
    Pick<LeasedExecution, 'id' | 'tenantId' | 'sharesWorker' | 'batch'>,
  suspension: Suspension,
): Promise<void> {
  const { id: executionId, organizationId } = execution
  const send = (delayMs: number) => engine.queue.send({ ...queuedOf(execution), wakes: true, delayMs })
  if (await hasFinalParent(engine, execution)) {
    await endExecution(engine, { organizationId, id: executionId, error: CANCELLED })
    return
  }
  if (await hasArrived(engine, { ...execution, suspension })) await send(0)
  else if (hasOwnMessage(suspension)) await send(Math.max(suspension.until - engine.system.now(), 0))
}

const TOO_MANY_SUSPENDED: ExecutionError = {
  code: 'WaitLimitExceeded',
  message:
    'The organization has as many suspended executions as it may have (the setting maxSuspendedExecutions).',
}

type Counting = { executions: Pick<ExecutionStore, 'countSuspended'>; system: Pick<System, 'now'> }

/** The limits of suspended executions that the environment sets. @throws an Error that names the variable */
export function openWaitLimits(
  stores: Counting,
  environment: Environment = process.env,
): Required<Pick<Engine, 'maxWaitMs' | 'maySuspend'>> {
  const max = readSetting('maxSuspendedExecutions', environment)
  const days = readSetting('maxWaitDays', environment)
  return { maxWaitMs: days * DAY_MS, maySuspend: suspensionLimit(stores, max) }
}

const MAX_ORGANIZATIONS = 10_000

/** An organization at its limit is counted again after this time. */
const FULL_MS = 30_000

/** Below a limit of so many executions, each suspension counts them. */
const COUNTED = 1_000

/**
 * The limit of an organization's suspended executions. A count reads what it counts, so that the larger the limit is,
 * the fewer suspensions count: one in 100 at 100,000. Below 97 % of the limit, a suspension then reads two units of the
 * table on average, and 200 processes exceed the limit by about a fifth before each of them has counted.
 * The limit on open executions counts more often, because those come faster (../submit/admission.ts). `reserved`: that
 * have yet to be suspended.
 */
export function suspensionLimit(
  { executions, system }: Counting,
  max: number,
  random = Math.random,
): (organizationId: string, reserved?: number) => Promise<boolean> {
  const fullUntil = new LRUCache<string, number>({ max: MAX_ORGANIZATIONS })
  return async (organizationId, reserved = 0) => {
    const known = fullUntil.get(organizationId)
    if (known !== undefined && system.now() < known) return false
    if (known === undefined && random() * max >= COUNTED) return true
    const isFull = (await executions.countSuspended({ organizationId, max })) >= max - reserved
    if (isFull) fullUntil.set(organizationId, system.now() + FULL_MS)
    else fullUntil.delete(organizationId)
    return !isFull
  }
}
