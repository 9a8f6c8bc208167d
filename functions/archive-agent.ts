import { archiveAgent } from '../lib/agents/lifecycle/change-agent.ts'
import { toAgentRecord } from '../lib/contract/records/agent.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { system } from '../lib/system.ts'

const { agents, rates, audit: auditLog } = openStores()
const audit = auditRequests(auditLog)

async function archive({ organizationId, agentId: idOrSlug }: Request<'archive-agent'>) {
  const archivedAt = new Date(system.now()).toISOString()
  const agent = await archiveAgent({ store: agents, organizationId, idOrSlug }, archivedAt)
  return { status: 200, body: toAgentRecord(agent) }
}

export const handler = endpoint('archive-agent', archive, { rates, audit })
