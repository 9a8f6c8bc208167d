import { type ExecutionReference, resolveExecutionId } from '../../access/executions.ts'
import { ExecutionInProgress, ExecutionNotFound } from '../../core/errors.ts'
import { CANCELLED, type Execution } from '../../core/execution.ts'
import type { ExecutionStore, System } from '../../core/ports.ts'
import { type Endings, endExecution, findUnawareParent } from '../end-execution.ts'
import { emitCompleted } from '../wait-for-completion.ts'

type Cancelling = Endings & { executions: Pick<ExecutionStore, 'get' | 'isVisible'> }

/**
 * Ends an execution for a client; a final one does not change. A worker in this process stops at once, another one at
 * its next step or heartbeat (docs/decisions/0003-cancel.md).
 * @throws ExecutionNotFound
 */
export async function cancelExecution(stores: Cancelling, reference: ExecutionReference): Promise<Execution> {
  const { organizationId } = reference.access
  const id = await resolveExecutionId(stores.executions, reference)
  const cancelled = await endExecution(stores, { organizationId, id, error: CANCELLED })
  if (cancelled) emitCompleted(id)
  const execution = cancelled ?? (await stores.executions.get({ organizationId, id }))
  if (!execution) throw new ExecutionNotFound()
  return execution
}

type Deleting = {
  executions: Pick<ExecutionStore, 'delete' | 'getSummary' | 'isVisible' | 'settle'>
  system: System
}

/**
 * Deletes a final execution and everything that belongs to it. One whose parent has yet to be resumed with its result
 * counts as in progress.
 * @throws ExecutionNotFound, ExecutionInProgress
 */
export async function deleteExecution({ executions, system }: Deleting, reference: ExecutionReference) {
  const { organizationId } = reference.access
  const id = await resolveExecutionId(executions, reference)
  const key = { organizationId, id }
  const remove = () => executions.delete({ ...key, now: system.now() })
  let result = await remove()
  if (result === 'awaited') {
    const ended = await executions.getSummary(key)
    if (ended && !(await findUnawareParent({ executions }, ended)))
      await executions.settle({ execution: ended, until: null })
    result = await remove()
  }
  if (result === 'missing') throw new ExecutionNotFound()
  if (result !== 'deleted') throw new ExecutionInProgress(id)
}
