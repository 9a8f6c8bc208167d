import type { Execution } from '../../core/execution.ts'
import type { RecordedStep } from '../../core/step.ts'
import type { Suspension, Wait } from '../../core/wait.ts'
import type { Engine } from '../engine.ts'

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
