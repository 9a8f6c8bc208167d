import { ExecutionNotFound } from '../lib/core/errors.ts'
import { CANCELLED } from '../lib/core/execution.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { executionIdFrom, recordReply } from '../lib/http/execution-reply.ts'
import { system } from '../lib/system.ts'

const { executions } = openStores()

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
