import { type ExecutionReference, resolveExecutionId } from '../../access/executions.ts'
import { whileHeld } from '../../access/open-requests.ts'
import { resolveVersionOf } from '../../agents/resolve-version.ts'
import { ExecutionNotFound } from '../../core/errors.ts'
import type { Execution } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { AgentStore, ExecutionStore } from '../../core/ports.ts'
import { waitForCompletion } from '../wait-for-completion.ts'

type Stores = { executions: Pick<ExecutionStore, 'get' | 'getStatus' | 'isVisible'> }

type Params = ExecutionReference & {
  /** How long to wait until the execution is final. */
  waitSeconds: number
  /** Ends the wait. */
  signal?: AbortSignal | undefined
}

/**
 * An execution, at once or when it is final.
 * @throws ExecutionNotFound, TooManyOpenRequests, the signal's reason when it aborts
 */
export async function readExecution({ executions }: Stores, { waitSeconds, signal, ...reference }: Params) {
  const { access } = reference
  const id = await resolveExecutionId(executions, reference)
  const key = { organizationId: access.organizationId, id }
  const timeoutMs = waitSeconds * 1000
  const wait = () => waitForCompletion({ executions, ...key, timeoutMs, ...(signal && { signal }) })
  const completed = waitSeconds > 0 ? await whileHeld('wait', access, wait) : 'IN_PROGRESS'
  const execution = completed === 'IN_PROGRESS' ? await executions.get(key) : completed
  if (!execution) throw new ExecutionNotFound()
  return execution
}

/**
 * What the agent received, if it is not the input as sent. It is not stored: it derives from the input and the version.
 * Empty if the version is deleted.
 */
export async function adaptedInputOf(
  agents: AgentStore,
  execution: Execution,
): Promise<{ adaptedInput?: JsonObject }> {
  if (execution.inputAdaptations.length === 0) return {}
  const version = await resolveVersionOf(agents, execution)
  if (!version) return {}
  // Loaded on demand: it is large, and rarely asked for.
  const { adapterOf } = await import('../compiled-adapter.ts')
  return { adaptedInput: adapterOf(version)(execution.input).input }
}
