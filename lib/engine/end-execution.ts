import type { ExecutionError } from '../core/execution.ts'
import type { ExecutionStore, System } from '../core/ports.ts'
import type { StepStore } from '../core/step.ts'
import { isoNow } from './engine.ts'

type Stores = {
  executions: Pick<ExecutionStore, 'end' | 'getStatus'>
  steps: Pick<StepStore, 'close'>
  system: System
}
type Params = { organizationId: string; id: string; error: ExecutionError }

/** Ends an open execution in ERROR with what its steps used, and closes its journal. Null if it is final or missing. */
export async function endExecution({ executions, steps, system }: Stores, params: Params) {
  if ((await executions.getStatus(params)) !== 'IN_PROGRESS') return null
  const progress = await steps.close({ executionId: params.id })
  return executions.end({ ...params, progress, finishedAt: isoNow(system) })
}
