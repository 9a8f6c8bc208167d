import { agentPageParameters } from '../lib/api/parameters.ts'
import { toAgentRecord } from '../lib/api/to-agent-record.ts'
import { visibilityOf } from '../lib/core/access.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { BY_CREATION, parsePage, toPageResponse } from '../lib/http/page.ts'

const { agents, rates } = openStores()

async function listAgents(request: Request<'list-agents'>) {
  const page = parsePage(request.query, BY_CREATION)
  const { organizationId, agentIds } = visibilityOf(request.access)
  const { archived } = request.query
  const listed = await agents.list({ organizationId, agentIds, archived: archived ?? false, ...page })
  return toPageResponse(listed, toAgentRecord, request)
}

export const handler = endpoint('list-agents', listAgents, { rates, query: agentPageParameters })
