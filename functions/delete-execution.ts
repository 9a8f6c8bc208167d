import { ExecutionInProgress, ExecutionNotFound } from '../lib/core/errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { parseExecutionId } from '../lib/http/execution-response.ts'
import { system } from '../lib/system.ts'

const { executions } = openStores()

async function deleteExecution({ organizationId, executionId }: Request<'delete-execution'>) {
  const id = parseExecutionId(executionId)
  const result = await executions.delete({ organizationId, id, now: system.now() })
  if (result === 'missing') throw new ExecutionNotFound()
  if (result === 'open') throw new ExecutionInProgress(id)
  return { status: 204 }
}

export const handler = endpoint('delete-execution', deleteExecution)
