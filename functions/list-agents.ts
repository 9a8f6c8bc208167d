import { visibilityOf } from '../lib/access/permissions.ts'
import { resolveAgent } from '../lib/agents/resolve-agent.ts'
import { listAgents, suggestSlug } from '../lib/agents/visible-agents.ts'
import { agentPageParameters } from '../lib/contract/parameters/lists.ts'
import { toAgentRecord } from '../lib/contract/records/agent.ts'
import type { Agent } from '../lib/core/agent.ts'
import { readPages } from '../lib/core/read-pages.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { toPageResponse } from '../lib/http/responses.ts'

const { agents, rates } = openStores()

const list = async (request: Request<'list-agents'>) =>
  toPageResponse(await listAgents(agents, request.access, request.query), toAgentRecord, request)

/** The schemas of the service are loaded by the first request for a document. */
async function describe(found: Agent[], title: string, basePath: string) {
  const { agentsOpenApi } = await import('../lib/contract/agents-openapi.ts')
  return { status: 200, body: { ...agentsOpenApi(found, title), servers: [{ url: basePath || '/' }] } }
}

async function describeOne({ organizationId, agentId, basePath }: Request<'get-agent-openapi'>) {
  const agent = await resolveAgent({ store: agents, organizationId, idOrSlug: agentId })
  return describe([agent], agent.title, basePath)
}

/** The agents that have a published version. */
async function describeAll({ access, basePath }: Request<'get-agents-openapi'>) {
  const { organizationId, agentIds } = visibilityOf(access)
  const found: Agent[] = []
  const pages = readPages((page) => agents.list({ organizationId, agentIds, archived: false, ...page }))
  for await (const agent of pages) if (agent.current) found.push(agent)
  return describe(found, 'Agents', basePath)
}

export const handler = family({
  'list-agents': endpoint('list-agents', list, { rates, query: agentPageParameters }),
  'get-agent-openapi': endpoint('get-agent-openapi', describeOne, { rates, suggest: suggestSlug(agents) }),
  'get-agents-openapi': endpoint('get-agents-openapi', describeAll, { rates }),
})
