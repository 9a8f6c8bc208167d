import { archiveAgent } from '../lib/agents/lifecycle/change-agent.ts'
import { toAgentRecord } from '../lib/contract/records/agent.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'

const { agents, rates, audit: auditLog } = openStores()
const audit = auditRequests(auditLog)

async function restore({ organizationId, agentId: idOrSlug }: Request<'restore-agent'>) {
  const agent = await archiveAgent({ store: agents, organizationId, idOrSlug }, null)
  return { status: 200, body: toAgentRecord(agent) }
}

export const handler = endpoint('restore-agent', restore, { rates, audit })
