import { type Access, visibilityOf } from '../core/access.ts'
import { ExecutionNotFound } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import type { ExecutionStore } from '../core/ports.ts'

type Executions = Pick<ExecutionStore, 'isVisible'>

/**
 * The id of an execution in a path. Its agent and tenant never change, so that a token limited to some is checked once,
 * with one small read; tokens without these limits need none.
 * @throws ExecutionNotFound if the text is not a UUID, or if the token may not use the execution
 */
export async function resolveExecutionId(
  executions: Executions,
  { executionId, access }: { executionId: string; access: Access },
): Promise<string> {
  if (!isUuid(executionId)) throw new ExecutionNotFound()
  const id = executionId.toLowerCase()
  const isLimited = access.agents !== null || access.tenantId !== null
  if (isLimited && !(await executions.isVisible({ ...visibilityOf(access), id })))
    throw new ExecutionNotFound()
  return id
}
