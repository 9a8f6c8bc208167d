import { waitHeaders } from '../lib/api/parameters/wait-headers.ts'
import { ExecutionNotFound } from '../lib/core/errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { waitForCompletion } from '../lib/engine/wait-for-completion.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { parseExecutionId, toRecordResponse } from '../lib/http/execution-response.ts'

const { executions } = openStores()

async function getExecution({ organizationId, executionId, headers }: Request<'get-execution'>) {
  const id = parseExecutionId(executionId)
  const seconds = headers.Prefer
  const params = { executions, organizationId, id, timeoutMs: seconds * 1000 }
  const completed = seconds > 0 ? await waitForCompletion(params) : 'IN_PROGRESS'
  const execution = completed === 'IN_PROGRESS' ? await executions.get({ organizationId, id }) : completed
  if (!execution) throw new ExecutionNotFound()
  const response = toRecordResponse(execution)
  if (seconds === 0) return response
  return { ...response, headers: { ...response.headers, 'Preference-Applied': `wait=${seconds}` } }
}

export const handler = endpoint('get-execution', getExecution, { headers: waitHeaders })
