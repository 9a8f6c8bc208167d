import { executionPageParameters } from '../lib/contract/parameters/executions.ts'
import { toListedExecution } from '../lib/contract/records/execution.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { listExecutions } from '../lib/engine/executions/list-executions.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { toPageResponse } from '../lib/http/responses.ts'

const { rates, ...stores } = openStores()

const list = async (request: Request<'list-executions'>) =>
  toPageResponse(await listExecutions(stores, request.access, request.query), toListedExecution, request)

export const handler = endpoint('list-executions', list, { rates, query: executionPageParameters })
