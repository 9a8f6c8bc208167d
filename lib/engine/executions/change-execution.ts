import { type ExecutionReference, resolveExecutionId } from '../../access/executions.ts'
import type { Execution } from '../../core/execution.ts'
import { CANCELLED } from '../../core/execution-errors.ts'
import type { BatchStore } from '../../core/ports/batches.ts'
import type { ExecutionStore } from '../../core/ports/executions.ts'
import type { OwnedId, System } from '../../core/ports/system.ts'
import { BatchInProgress, ExecutionInProgress, ExecutionNotFound } from '../../core/resource-errors.ts'
import { type Endings, endExecution, findUnawareParent } from '../end-execution.ts'
import { emitCompleted } from '../wait-for-completion.ts'

type Cancelling = Endings & { executions: Pick<ExecutionStore, 'get' | 'isVisible'> }

/**
 * Ends an execution for a client; a final one does not change. A worker in this process stops at once, another one at
 * its next step or heartbeat (docs/decisions/0007-step-journal.md).
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
  /** Without it, no execution is a line of a batch. */
  batches?: Pick<BatchStore, 'get'>
  system: System
}

/**
 * Deletes a final execution and everything that belongs to it. One whose parent has yet to be resumed with its result
 * counts as in progress. That of a line is kept until its batch has ended, which would start it again.
 * @throws ExecutionNotFound, ExecutionInProgress, BatchInProgress
 */
export async function deleteExecution(stores: Deleting, reference: ExecutionReference) {
  const { executions, system } = stores
  const { organizationId } = reference.access
  const id = await resolveExecutionId(executions, reference)
  const key = { organizationId, id }
  await assertBatchHasEnded(stores, key)
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

async function assertBatchHasEnded({ executions, batches }: Deleting, key: OwnedId): Promise<void> {
  const line = batches && (await executions.getSummary(key))?.batch
  if (!line) return
  const batch = await batches.get({ organizationId: key.organizationId, id: line.id })
  if (batch && batch.status !== 'ENDED') throw new BatchInProgress(line.id, batch.trial ? 'trial' : 'batch')
}
