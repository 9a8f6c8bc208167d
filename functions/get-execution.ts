import { executionParameters, waitHeaders } from '../lib/api/parameters.ts'
import { ExecutionNotFound } from '../lib/core/errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { adaptedInputOf } from '../lib/engine/submit/adapted-input.ts'
import { waitForCompletion } from '../lib/engine/wait-for-completion.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { resolveExecutionId } from '../lib/http/execution-id.ts'
import { toRecordResponse } from '../lib/http/execution-response.ts'
import { whileHeld } from '../lib/http/open-requests.ts'

const { agents, executions, rates } = openStores()

async function getExecution(request: Request<'get-execution'>) {
  const { organizationId, query, headers } = request
  const id = await resolveExecutionId(executions, request)
  const seconds = headers.Prefer
  const params = { executions, organizationId, id, timeoutMs: seconds * 1000 }
  const wait = () => waitForCompletion(params)
  const completed = seconds > 0 ? await whileHeld('wait', request.access, wait) : 'IN_PROGRESS'
  const execution = completed === 'IN_PROGRESS' ? await executions.get({ organizationId, id }) : completed
  if (!execution) throw new ExecutionNotFound()
  const response = toRecordResponse(
    execution,
    query.adaptedInput ? await adaptedInputOf(agents, execution) : {},
  )
  if (seconds === 0) return response
  return { ...response, headers: { ...response.headers, 'Preference-Applied': `wait=${seconds}` } }
}

export const handler = endpoint('get-execution', getExecution, {
  rates,
  query: executionParameters,
  headers: waitHeaders,
})
