import { ExecutionNotFound } from '../lib/core/errors.ts'
import { executionStore } from '../lib/dynamodb/execution-store.ts'
import { openTable } from '../lib/dynamodb/table.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { executionIdFrom, recordReply } from '../lib/http/execution-reply.ts'

const executions = executionStore(openTable())

async function getExecution({ organizationId, executionId }: Request<'get-execution'>) {
  const execution = await executions.get({ organizationId, id: executionIdFrom(executionId) })
  if (!execution) throw new ExecutionNotFound()
  return recordReply(execution)
}

export const handler = endpoint('get-execution', getExecution)
