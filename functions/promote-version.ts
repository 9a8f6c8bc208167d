import { promoteVersion } from '../lib/agents/lifecycle/change-agent.ts'
import { parseVersionId } from '../lib/agents/resolve-agent.ts'
import { promotionParameters } from '../lib/contract/parameters/lists.ts'
import { toAgentRecord } from '../lib/contract/records/agent.ts'
import type { Access } from '../lib/core/access.ts'
import { actorOf } from '../lib/core/audit-request.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { system } from '../lib/system.ts'

/** As entries of the audit log show it. */
const byNameOf = (access: Access) => {
  const { name } = actorOf(access)
  return name === undefined ? {} : { byName: name }
}

const { agents, batches, rates, audit: auditLog } = openStores()
const audit = auditRequests(auditLog)

async function promote(request: Request<'promote-version'>) {
  const { organizationId, agentId: idOrSlug } = request
  const versionId = parseVersionId(request.versionId)
  const { trial: id } = request.query
  const trial = id === undefined ? undefined : { id, batches }
  const agent = await promoteVersion({
    ...{ store: agents, system, organizationId, idOrSlug, versionId, trial },
    by: { by: request.access.tokenId, ...byNameOf(request.access) },
    onReplace: (from) => request.note({ currentVersionId: { from, to: versionId } }),
  })
  return { status: 200, body: toAgentRecord(agent) }
}

export const handler = endpoint('promote-version', promote, { rates, audit, query: promotionParameters })
