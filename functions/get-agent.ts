import { resolveAgent } from '../lib/agents/resolve-agent.ts'
import { toAgentRecord } from '../lib/api/mappers/to-agent-record.ts'
import { agentStore } from '../lib/dynamodb/agent-store.ts'
import { openTable } from '../lib/dynamodb/table.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'

const store = agentStore(openTable())

async function getAgent({ organizationId, agentId }: Request<'get-agent'>) {
  const agent = await resolveAgent({ store, organizationId, idOrSlug: agentId })
  return { status: 200, body: toAgentRecord(agent) }
}

export const handler = endpoint('get-agent', getAgent)
