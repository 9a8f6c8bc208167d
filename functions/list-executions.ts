import { toExecutionRecord } from '../lib/api/mappers/to-execution-record.ts'
import { executionPageParameters } from '../lib/api/parameters/page-parameters.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { BY_ID, parsePage, toPageResponse } from '../lib/http/page.ts'

const { executions } = openStores()

async function listExecutions(request: Request<'list-executions'>) {
  const { organizationId, query } = request
  const { status = null, tenantId = null } = query
  const page = parsePage(query, BY_ID)
  const result = await executions.list({ organizationId, agentId: null, status, tenantId, ...page })
  return toPageResponse(result, toExecutionRecord, request)
}

export const handler = endpoint('list-executions', listExecutions, { query: executionPageParameters })
