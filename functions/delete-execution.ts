import { ExecutionInProgress, ExecutionNotFound } from '../lib/core/errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { resolveExecutionId } from '../lib/http/execution-id.ts'
import { system } from '../lib/system.ts'

const { executions, rates } = openStores()

async function deleteExecution(request: Request<'delete-execution'>) {
  const { organizationId } = request
  const id = await resolveExecutionId(executions, request)
  const result = await executions.delete({ organizationId, id, now: system.now() })
  if (result === 'missing') throw new ExecutionNotFound()
  if (result === 'open') throw new ExecutionInProgress(id)
  return { status: 204 }
}

export const handler = endpoint('delete-execution', deleteExecution, { rates })
