import { resolveAgent } from '../lib/agents/resolve-agent.ts'
import { toExecutionRecord } from '../lib/api/mappers/to-execution-record.ts'
import { executionPageParameters } from '../lib/api/parameters/page-parameters.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { BY_ID, parsePage, toPageResponse } from '../lib/http/page.ts'

const { agents, executions } = openStores()

async function listAgentExecutions(request: Request<'list-agent-executions'>) {
  const { organizationId, query } = request
  const { status = null, tenantId = null } = query
  const page = parsePage(query, BY_ID)
  const agent = await resolveAgent({ store: agents, organizationId, idOrSlug: request.agentId })
  const result = await executions.list({ organizationId, agentId: agent.id, status, tenantId, ...page })
  return toPageResponse(result, toExecutionRecord, request)
}

export const handler = endpoint('list-agent-executions', listAgentExecutions, {
  query: executionPageParameters,
})
