import { executionPageParameters } from '../lib/api/parameters.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { listPage } from '../lib/http/execution-page.ts'

const { executions, rates } = openStores()

async function listExecutions(request: Request<'list-executions'>) {
  const { organizationId } = request
  return listPage(executions, { organizationId, agentId: null }, request)
}

export const handler = endpoint('list-executions', listExecutions, { rates, query: executionPageParameters })
