import { resolveAgent } from '../lib/agents/resolve-agent.ts'
import { suggestSlug } from '../lib/agents/visible-agents.ts'
import { pageParameters } from '../lib/contract/parameters/lists.ts'
import { toVersionRecord } from '../lib/contract/records/agent.ts'
import { BY_ID, parsePage } from '../lib/core/cursor.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { toPageResponse } from '../lib/http/responses.ts'

const { agents, rates } = openStores()

async function listVersions(request: Request<'list-versions'>) {
  const { organizationId, agentId, query } = request
  const page = parsePage(query, BY_ID)
  const agent = await resolveAgent({ store: agents, organizationId, idOrSlug: agentId })
  const versions = await agents.listVersions({ organizationId, agentId: agent.id, ...page })
  return toPageResponse(versions, (version) => toVersionRecord(version, agent, request.access), request)
}

export const handler = endpoint('list-versions', listVersions, {
  rates,
  suggest: suggestSlug(agents),
  query: pageParameters,
})
