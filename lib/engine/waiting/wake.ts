import type { Execution, ExecutionSummary, Lease, LeasedExecution } from '../../core/execution.ts'
import { SYNC_DEADLINE_MS } from '../../core/limits.ts'
import type { ExecutionStore } from '../../core/ports.ts'
import type { RecordedStep } from '../../core/step.ts'
import type { Suspension, Wait } from '../../core/wait.ts'
import { type Engine, timesOf } from '../engine.ts'

/** A message may be delivered this much before its time: the clocks of machines differ. */
const EARLY_MS = 2_000

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
  if (!(await hasArrived(engine, execution))) {
    // The message about these events may have been lost.
    if (execution.pendingEvents.length > 0) await engine.announce?.(execution)
    const remainingMs = execution.suspension.until - system.now()
    return remainingMs <= EARLY_MS ? { retryInMs: Math.max(remainingMs, 0) } : 'closed'
  }
  const now = system.now()
  const openUntil = now + timesOf(engine).graceMs
  return (await executions.wake({ execution, lease, openUntil, now })) ?? 'held'
}

type Senders = Pick<Engine, 'queue' | 'system' | 'times'> & { executions: Pick<ExecutionStore, 'postpone'> }

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
  const { id: executionId, organizationId, tenantId, sharesWorker, suspension, openUntil } = execution
  const { leaseMs } = timesOf({ times })
  const hasFirstWorker = execution.lease !== null && execution.attempts === 1
  if (!suspension && !hasFirstWorker) return
  const delayMs = suspension ? 0 : SYNC_DEADLINE_MS.streamed + leaseMs
  try {
    await queue.send({ executionId, organizationId, tenantId, sharesWorker, wakes: true, delayMs })
  } catch {
    const until = system.now() + 2 * leaseMs
    if (suspension && openUntil !== null && openUntil > until)
      await executions.postpone({ stale: { ...execution, openUntil }, until, now: null })
  }
}

type Stores = Pick<Engine, 'executions' | 'signals' | 'steps' | 'system'>
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
