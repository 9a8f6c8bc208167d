import { ExecutionNotFound } from '../core/errors.ts'
import { CANCELLED, type Execution, type ExecutionError } from '../core/execution.ts'
import type { ExecutionStore, System } from '../core/ports.ts'
import type { StepStore } from '../core/step.ts'
import { emitCompleted } from './wait-for-completion.ts'

type Stores = {
  executions: Pick<ExecutionStore, 'end'>
  steps: Pick<StepStore, 'getProgress'>
  system: System
}
type Closing = { executions: Pick<ExecutionStore, 'getStatus'>; steps: Pick<StepStore, 'close'> }
type Params = { organizationId: string; id: string; error: ExecutionError }

/** Ends an open execution in ERROR with what its steps have used. Its worker can write no further step. Null if it is final or does not exist. */
export async function endExecution(stores: Stores & Closing, params: Params): Promise<Execution | null> {
  const { executions, steps, system } = stores
  if ((await executions.getStatus(params)) !== 'IN_PROGRESS') return null
  const progress = await steps.close({ executionId: params.id })
  return executions.end({ ...params, progress, finishedAt: isoTime(system.now()) })
}

type Cancelling = Stores & Closing & { executions: Pick<ExecutionStore, 'get'> }

/**
 * Ends an execution for a client; a final one does not change. A worker in this process stops at once, another one at its next
 * step or heartbeat (docs/decisions/0003-cancel.md).
 * @throws ExecutionNotFound
 */
export async function cancelExecution(stores: Cancelling, params: Omit<Params, 'error'>): Promise<Execution> {
  const cancelled = await endExecution(stores, { ...params, error: CANCELLED })
  if (cancelled) emitCompleted(params.id)
  const execution = cancelled ?? (await stores.executions.get(params))
  if (!execution) throw new ExecutionNotFound()
  return execution
}

/** Like `endExecution`, for an execution without a worker; null also if a lease is live. */
export async function endAbandoned(stores: Stores, params: Params): Promise<Execution | null> {
  const { executions, steps, system } = stores
  const progress = await steps.getProgress({ executionId: params.id })
  const now = system.now()
  return executions.end({ ...params, progress, finishedAt: isoTime(now), unleasedAt: now })
}

const isoTime = (ms: number): string => new Date(ms).toISOString()
