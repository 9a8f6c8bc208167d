import type { Access } from '../core/access.ts'
import type { Execution } from '../core/execution.ts'
import { isUuid } from '../core/ids.ts'
import type { ExecutionStore } from '../core/ports/executions.ts'
import { ExecutionNotFound } from '../core/resource-errors.ts'
import { visibilityOf } from './permissions.ts'

/** An execution that a request names. */
export type ExecutionReference = { executionId: string; access: Access }

/**
 * The id of an execution that a token may use. Its agent and tenant never change, so that a token limited to some is
 * checked once, with one small read; tokens without these limits need none.
 * @throws ExecutionNotFound if the text is not a UUID, or if the token may not use the execution
 */
export async function resolveExecutionId(
  executions: Pick<ExecutionStore, 'isVisible'>,
  { executionId, access }: ExecutionReference,
): Promise<string> {
  if (!isUuid(executionId)) throw new ExecutionNotFound()
  const id = executionId.toLowerCase()
  const isLimited = access.agents !== null || access.tenantId !== null
  if (isLimited && !(await executions.isVisible({ ...visibilityOf(access), id })))
    throw new ExecutionNotFound()
  return id
}

/** An execution that a token may use. @throws ExecutionNotFound */
export async function readNamed(
  executions: Pick<ExecutionStore, 'get' | 'isVisible'>,
  reference: ExecutionReference,
): Promise<Execution> {
  const id = await resolveExecutionId(executions, reference)
  const execution = await executions.get({ organizationId: reference.access.organizationId, id })
  if (!execution) throw new ExecutionNotFound()
  return execution
}

/** A list of executions, limited to the agents that a token may use. One agent has an index of its own. */
export function limitToAgents(access: Access, agentId: string | null) {
  const { organizationId, agentIds } = visibilityOf(access)
  if (agentId !== null || agentIds === null) return { organizationId, agentId }
  const [first = null] = agentIds
  return agentIds.length === 1
    ? { organizationId, agentId: first }
    : { organizationId, agentId: null, agentIds }
}
