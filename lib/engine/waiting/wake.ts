import type {
  Execution,
  ExecutionSummary,
  LeasedExecution,
  SuspendedExecution,
} from '../../core/execution.ts'
import type { ExecutionError } from '../../core/execution-errors.ts'
import { type Lease, nextSweep } from '../../core/lease-times.ts'
import { DAY_MS, MAX_QUEUE_DELAY_MS, SYNC_DEADLINE_MS } from '../../core/limits.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { RecordedStep } from '../../core/step.ts'
import { hasOwnMessage, isQueued, type Suspension, type Wait } from '../../core/wait.ts'
import { endAbandoned } from '../end-execution.ts'
import { type Engine, queuedOf, timesOf } from '../engine.ts'
import { listedOf } from '../maintenance.ts'
import { hasTurn } from '../queued-runs.ts'

/** A message may be delivered this much before its time: the clocks of machines differ. */
export const EARLY_MS = 2_000

/**
 * Takes the lease of a suspended execution if what it waits for has arrived, whoever says so: a message decides
 * nothing. `closed`: it does not wait for anything that has arrived, or does not wait at all.
 * @throws Unavailable
 */
export async function wake(
  engine: Engine,
  id: string,
  lease: Lease,
): Promise<LeasedExecution | 'held' | 'closed' | { retryInMs: number }> {
  const { executions, system } = engine
  const execution = await executions.getSuspended({ id })
  if (!execution) return 'closed'
  if (isQueued(execution.suspension)) {
    if (!(await mayBegin(engine, execution))) return 'closed'
  } else if (!(await hasArrived(engine, execution))) {
    const remainingMs = execution.suspension.until - system.now()
    if (execution.pendingEvents.length > 0) await repeatEvents(engine, execution, remainingMs)
    return remainingMs <= EARLY_MS ? { retryInMs: Math.max(remainingMs, 0) } : 'closed'
  }
  const now = system.now()
  const openUntil = now + timesOf(engine).graceMs
  const woken = await executions.wake({ execution, lease, openUntil, now })
  if (woken?.batch) await engine.afterLine?.(woken).catch(() => undefined)
  return woken ?? 'held'
}

/** Whether it is the turn of a queued execution. Otherwise its timer looks again, or its time is over. */
async function mayBegin(engine: Engine, execution: SuspendedExecution): Promise<boolean> {
  const { executions, limits, system } = engine
  const { suspension, openUntil } = execution
  const now = system.now()
  if (suspension.until <= now) {
    const guard = openUntil === null ? {} : listedOf({ ...execution, openUntil })
    await endAbandoned(engine, execution, waitLimitExceeded(suspension.until - suspension.at), guard)
    return false
  }
  if (!limits || (await hasTurn({ ...engine, limits }, execution))) return true
  if (openUntil !== null && openUntil <= now + EARLY_MS) {
    const until = nextSweep(timesOf(engine), Date.parse(execution.createdAt), now)
    await executions.postpone({ stale: { ...execution, openUntil }, until, now: null })
  }
  return false
}

export const waitLimitExceeded = (maxWaitMs: number): ExecutionError => ({
  code: 'WaitLimitExceeded',
  message: `The run would wait longer than the setting maxWaitDays allows: ${maxWaitMs / DAY_MS}.`,
})

/**
 * The message about these events may have been lost. Until they are delivered, the timer does not look at the execution
 * at its time, but once at least in the time of the longest delay before.
 */
async function repeatEvents(engine: Engine, execution: SuspendedExecution, remainingMs: number) {
  await engine.announce?.(execution)
  if (hasOwnMessage(execution.suspension) || remainingMs <= EARLY_MS || remainingMs >= MAX_QUEUE_DELAY_MS)
    return
  await engine.queue.send({ ...queuedOf(execution), wakes: true, delayMs: remainingMs })
}

type Senders = Pick<Engine, 'queue' | 'system' | 'times'> & {
  executions: Pick<ExecutionStore, 'getSuspended' | 'postpone'>
}

/** Each time that the timer of a suspended execution cannot be moved, somebody else has moved it. */
const MAX_MOVES = 5

/**
 * Sends the message that resumes a suspended execution after something has arrived for it. If it cannot be sent, the
 * sweeper does, which looks for timers after those that it has sent.
 *
 * A worker that is still running looks itself after it has suspended the execution. If it dies in between, its message
 * brings another one. The first worker of a synchronous run has none: a message arrives when it must have ended.
 * @throws Unavailable if neither is possible
 */
export async function sendWake(
  { executions, queue, system, times }: Senders,
  execution: ExecutionSummary,
): Promise<void> {
  const { suspension } = execution
  const { leaseMs } = timesOf({ times })
  const hasFirstWorker = execution.lease !== null && execution.attempts === 1
  if (!suspension && !hasFirstWorker) return
  const delayMs = suspension ? 0 : SYNC_DEADLINE_MS.streamed + leaseMs
  try {
    await queue.send({ ...queuedOf(execution), wakes: true, delayMs })
  } catch {
    const until = system.now() + 2 * leaseMs
    let current: ExecutionSummary | null = suspension && execution
    for (let i = 0; i < MAX_MOVES && isDueAfter(current, until); i++) {
      if (await executions.postpone({ stale: current, until, now: null })) return
      current = await executions.getSuspended(current)
    }
  }
}

/** Also if it will be as soon as its events are delivered, which requires that its timer has not moved. */
const isDueAfter = (
  execution: ExecutionSummary | null,
  time: number,
): execution is ExecutionSummary & { openUntil: number } =>
  execution?.openUntil != null && (execution.openUntil > time || execution.pendingEvents.length > 0)

type Stores = {
  executions: Pick<ExecutionStore, 'getStatus'>
  signals: Pick<Engine['signals'], 'list'>
  steps: Pick<Engine['steps'], 'hasResult' | 'read'>
  system: Pick<Engine['system'], 'now'>
}
type Waiting = Pick<Execution, 'id' | 'organizationId'> & { suspension: Suspension }

/**
 * Whether a suspended execution can go on: its time has come, or something that it waits for is stored. Which one, and
 * what follows from it, is decided by the worker that resumes it.
 */
export async function hasArrived(
  stores: Stores,
  { id, organizationId, suspension }: Waiting,
): Promise<boolean> {
  const { until, waits } = suspension
  if (until <= stores.system.now()) return true
  const ofKind = (kind: Wait['kind']) => waits.filter((wait) => wait.kind === kind)
  const approvals = ofKind('approval').flatMap(({ id: callId, step: number }) =>
    callId !== undefined && number !== undefined ? [{ callId, number }] : [],
  )
  if (approvals.length > 0 && (await stores.steps.hasResult({ executionId: id, calls: approvals })))
    return true
  const children = ofKind('execution').flatMap((wait) => wait.id ?? [])
  const statuses = children.map((child) => stores.executions.getStatus({ organizationId, id: child }))
  if ((await Promise.all(statuses)).some((status) => status !== 'IN_PROGRESS')) return true
  const names = new Set(ofKind('signal').flatMap(({ signals = [] }) => signals))
  return names.size > 0 && (await hasSignal(stores, id, names))
}

async function hasSignal(
  { signals, steps }: Stores,
  executionId: string,
  names: Set<string>,
): Promise<boolean> {
  const kept = (await signals.list({ executionId })).filter(({ name }) => names.has(name))
  if (kept.length === 0) return false
  const used = usedSignals(await steps.read({ executionId }))
  return kept.some(({ id }) => !used.has(id))
}

/** The ids of the signals that waits have taken or skipped. */
export function usedSignals(recorded: RecordedStep[]): Set<string> {
  const results = recorded.flatMap(({ results }) => [...results.values()])
  const ids = results.flatMap(({ signals }) =>
    signals ? [...(signals.taken ? [signals.taken] : []), ...signals.skipped.map(({ id }) => id)] : [],
  )
  return new Set(ids)
}
