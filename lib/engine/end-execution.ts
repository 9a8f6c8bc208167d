import type { ExecutionError, LostStep, Progress } from '../core/execution.ts'
import type { ExecutionStore, System } from '../core/ports.ts'
import { type StepStore, stillLost } from '../core/step.ts'
import { isoNow } from './engine.ts'

type Key = { organizationId: string; id: string }

type Stores = {
  executions: Pick<ExecutionStore, 'end' | 'getStatus' | 'getSummary'>
  steps: Pick<StepStore, 'close' | 'read'>
  system: System
}

/** Ends an open execution in ERROR with what its steps used, and closes its journal. Null if it is final or missing. */
export async function endExecution(
  { executions, steps, system }: Stores,
  params: Key & { error: ExecutionError },
) {
  if ((await executions.getStatus(params)) !== 'IN_PROGRESS') return null
  const closed = await steps.close({ executionId: params.id })
  const progress = await withLosses({ executions, steps }, params, closed)
  return executions.end({ ...params, progress, finishedAt: isoNow(system) })
}

type Readers = { executions: Pick<ExecutionStore, 'getSummary'>; steps: Pick<StepStore, 'read'> }

/** The progress of a run that no worker resumes, and the steps of its record that are lost indeed. */
export async function withLosses({ executions, steps }: Readers, key: Key, progress: Progress | null) {
  const lostSteps: LostStep[] = (progress && (await executions.getSummary(key))?.lostSteps) ?? []
  if (!progress || lostSteps.length === 0) return progress
  return { ...progress, lostSteps: stillLost(lostSteps, await steps.read({ executionId: key.id })) }
}
