import { retireVersion } from '../lib/agents/lifecycle/change-agent.ts'
import { parseVersionId } from '../lib/agents/resolve-agent.ts'
import { toVersionRecord } from '../lib/contract/records/agent.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { system } from '../lib/system.ts'

const { agents, rates, audit: auditLog } = openStores()
const audit = auditRequests(auditLog)

async function setRetired(request: Request<'retire-version' | 'unretire-version'>, retiredAt: string | null) {
  const { organizationId, agentId: idOrSlug } = request
  const reference = { store: agents, organizationId, idOrSlug, versionId: parseVersionId(request.versionId) }
  const { version, agent } = await retireVersion(reference, retiredAt)
  return { status: 200, body: toVersionRecord(version, agent) }
}

const retire = (request: Request<'retire-version'>) =>
  setRetired(request, new Date(system.now()).toISOString())
const unretire = (request: Request<'unretire-version'>) => setRetired(request, null)

export const handler = family({
  'retire-version': endpoint('retire-version', retire, { rates, audit }),
  'unretire-version': endpoint('unretire-version', unretire, { rates, audit }),
})
