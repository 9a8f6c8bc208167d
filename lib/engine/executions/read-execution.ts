import { type ExecutionReference, resolveExecutionId } from '../../access/executions.ts'
import { resolveVersionOf } from '../../agents/resolve-version.ts'
import type { Access } from '../../core/access.ts'
import type { Execution } from '../../core/execution.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { TooManyOpenRequests } from '../../core/limit-errors.ts'
import type { OpenRequests } from '../../core/ports/access.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import { ExecutionNotFound } from '../../core/resource-errors.ts'
import { waitForCompletion } from '../wait-for-completion.ts'

type Parts = {
  executions: Pick<ExecutionStore, 'get' | 'getState' | 'isVisible'>
  openRequests: OpenRequests
}

type Params = ExecutionReference & {
  /** How long to wait until the execution is final or is suspended again. */
  waitSeconds: number
  /** Ends the wait. */
  signal?: AbortSignal | undefined
}

/**
 * An execution, at once or when it is final. `isFull`: the wait ended early, or did not begin, because the caller or
 * its organization has too many open requests.
 * @throws ExecutionNotFound, the signal's reason when it aborts
 */
export async function readExecution(parts: Parts, { waitSeconds, signal, ...reference }: Params) {
  const { executions } = parts
  const id = await resolveExecutionId(executions, reference)
  const key = { organizationId: reference.access.organizationId, id }
  const { completed, isFull } =
    waitSeconds > 0
      ? await wait(parts, { ...key, access: reference.access, timeoutMs: waitSeconds * 1000, signal })
      : NOT_WAITED
  const execution = completed === 'IN_PROGRESS' ? await executions.get(key) : completed
  if (!execution) throw new ExecutionNotFound()
  return { execution, isFull }
}

const NOT_WAITED = { completed: 'IN_PROGRESS', isFull: false } as const

type Wait = {
  access: Access
  organizationId: string
  id: string
  timeoutMs: number
  signal: AbortSignal | undefined
}

async function wait({ executions, openRequests }: Parts, { access, signal, ...params }: Wait) {
  const held = await openRequests.hold('wait', access).catch((error: unknown) => {
    if (error instanceof TooManyOpenRequests) return null
    throw error
  })
  if (!held) return { ...NOT_WAITED, isFull: true }
  const { full, release } = held
  const until = signal ? AbortSignal.any([signal, full]) : full
  try {
    const completed = await waitForCompletion({
      ...{ executions, ...params, signal: until },
      until: 'nextSuspension',
    })
    return { completed, isFull: false }
  } catch (error) {
    if (!full.aborted || signal?.aborted) throw error
    return { ...NOT_WAITED, isFull: true }
  } finally {
    release()
  }
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
