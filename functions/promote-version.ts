import { promoteVersion } from '../lib/agents/lifecycle/change-agent.ts'
import { parseVersionId } from '../lib/agents/resolve-agent.ts'
import { toAgentRecord } from '../lib/api/to-agent-record.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { system } from '../lib/system.ts'

const { agents, rates } = openStores()

async function promote(request: Request<'promote-version'>) {
  const { organizationId, agentId: idOrSlug } = request
  const versionId = parseVersionId(request.versionId)
  const agent = await promoteVersion({ store: agents, system, organizationId, idOrSlug, versionId })
  return { status: 200, body: toAgentRecord(agent) }
}

export const handler = endpoint('promote-version', promote, { rates })
