import { ExecutionNotFound } from '../lib/core/errors.ts'
import { CANCELLED } from '../lib/core/execution.ts'
import { executionStore } from '../lib/dynamodb/execution-store.ts'
import { openTable } from '../lib/dynamodb/table.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { executionIdFrom, recordReply } from '../lib/http/execution-reply.ts'
import { measured } from '../lib/metrics.ts'
import { system } from '../lib/system.ts'

const executions = measured(executionStore(openTable()))

/** Ends the record at once; the worker finds that out at its next write and stops (docs/decisions/0003-cancel.md). */
async function cancelExecution({ organizationId, executionId }: Request<'cancel-execution'>) {
  const id = executionIdFrom(executionId)
  const finishedAt = new Date(system.now()).toISOString()
  const cancelled = await executions.end({ organizationId, id, error: CANCELLED, finishedAt })
  const execution = cancelled ?? (await executions.get({ organizationId, id }))
  if (!execution) throw new ExecutionNotFound()
  return recordReply(execution)
}

export const handler = endpoint('cancel-execution', cancelExecution)
