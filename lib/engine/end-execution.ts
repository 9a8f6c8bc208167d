import type { Execution, ExecutionError } from '../core/execution.ts'
import type { ExecutionStore, System } from '../core/ports.ts'
import type { StepStore } from '../core/step.ts'

type Stores = {
  executions: Pick<ExecutionStore, 'end'>
  steps: Pick<StepStore, 'getProgress'>
  system: System
}
type Closing = { executions: Pick<ExecutionStore, 'getStatus'>; steps: Pick<StepStore, 'close'> }
type Params = { organizationId: string; id: string; error: ExecutionError }

/** Ends an open execution in ERROR with what its steps used, and closes its journal. Null if it is final or missing. */
export async function endExecution(stores: Stores & Closing, params: Params): Promise<Execution | null> {
  const { executions, steps, system } = stores
  if ((await executions.getStatus(params)) !== 'IN_PROGRESS') return null
  const progress = await steps.close({ executionId: params.id })
  return executions.end({ ...params, progress, finishedAt: isoTime(system.now()) })
}

/** Like `endExecution`, for an execution without a worker; null also if a lease is live. */
export async function endAbandoned(stores: Stores, params: Params): Promise<Execution | null> {
  const { executions, steps, system } = stores
  const progress = await steps.getProgress({ executionId: params.id })
  const now = system.now()
  return executions.end({ ...params, progress, finishedAt: isoTime(now), unleasedAt: now })
}

const isoTime = (ms: number): string => new Date(ms).toISOString()
