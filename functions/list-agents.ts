import { toAgentRecord } from '../lib/api/mappers/to-agent-record.ts'
import { pageParameters } from '../lib/api/parameters/page-parameters.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { BY_CREATION, parsePage, toPageResponse } from '../lib/http/page.ts'

const { agents } = openStores()

async function listAgents(request: Request<'list-agents'>) {
  const page = parsePage(request.query, BY_CREATION)
  return toPageResponse(
    await agents.list({ organizationId: request.organizationId, ...page }),
    toAgentRecord,
    request,
  )
}

export const handler = endpoint('list-agents', listAgents, { query: pageParameters })
