import { resolveAgent } from '../lib/agents/resolve-agent.ts'
import { suggestSlug } from '../lib/agents/visible-agents.ts'
import { toAgentRecord } from '../lib/contract/records/agent.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'

const { agents, rates } = openStores()

async function getAgent({ organizationId, agentId }: Request<'get-agent'>) {
  const agent = await resolveAgent({ store: agents, organizationId, idOrSlug: agentId })
  return { status: 200, body: toAgentRecord(agent) }
}

export const handler = endpoint('get-agent', getAgent, { rates, suggest: suggestSlug(agents) })
