import { executionParameters, waitHeaders } from '../lib/contract/parameters/executions.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { requestedOptionsOf } from '../lib/engine/batches/trial-line.ts'
import { adaptedInputOf, readExecution } from '../lib/engine/executions/read-execution.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { toRecordResponse } from '../lib/http/responses.ts'
import { limitOpenRequests } from '../lib/limits/open-requests.ts'

const { agents, executions, rates } = openStores()
const openRequests = limitOpenRequests('get-execution', rates)

async function getExecution({ access, executionId, query, headers, signal }: Request<'get-execution'>) {
  const waitSeconds = headers.Prefer
  const reference = { access, executionId, waitSeconds, signal }
  const { execution, isFull } = await readExecution({ executions, openRequests }, reference)
  const added = {
    ...(query.adaptedInput && (await adaptedInputOf(agents, execution))),
    ...(query.requestedOptions && (await requestedOptionsOf(agents, execution))),
  }
  const { maxValueBytes } = query
  const response = toRecordResponse(execution, { access, added, isFull, maxValueBytes })
  if (waitSeconds === 0 || isFull) return response
  return { ...response, headers: { ...response.headers, 'Preference-Applied': `wait=${waitSeconds}` } }
}

export const handler = endpoint('get-execution', getExecution, {
  rates,
  query: executionParameters,
  headers: waitHeaders,
})
