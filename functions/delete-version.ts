import { deleteDraft } from '../lib/agents/lifecycle/delete-draft.ts'
import { parseVersionId } from '../lib/agents/resolve-agent.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'

const { agents, executions, rates, audit: auditLog } = openStores()
const audit = auditRequests(auditLog)

async function deleteVersion(request: Request<'delete-version'>) {
  const { organizationId, agentId: idOrSlug } = request
  const versionId = parseVersionId(request.versionId)
  await deleteDraft({ store: agents, executions, organizationId, idOrSlug, versionId })
  return { status: 204 }
}

export const handler = endpoint('delete-version', deleteVersion, { rates, audit })
