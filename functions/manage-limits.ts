import { resolveAgent } from '../lib/agents/resolve-agent.ts'
import { limitsBody } from '../lib/contract/bodies/limits.ts'
import { limitsPageParameters } from '../lib/contract/parameters/lists.ts'
import { toLimitsDetails, toLimitsRecord } from '../lib/contract/records/limits.ts'
import type { Access } from '../lib/core/access.ts'
import type { SubjectKey } from '../lib/core/ports/usage.ts'
import { InputSchemaMismatch } from '../lib/core/request-errors.ts'
import { hasCostLimit, type LimitSubject } from '../lib/core/usage-limits.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { findCostWarnings } from '../lib/engine/submit/limited-models.ts'
import { readCost as readCostOf } from '../lib/engine/usage/read-totals.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { checkMembers } from '../lib/http/json-body.ts'
import { toPageResponse } from '../lib/http/responses.ts'
import {
  deleteLimits,
  type GivenLimits,
  getLimits,
  listLimits,
  putLimits,
} from '../lib/limits/manage-limits.ts'
import { system } from '../lib/system.ts'

const { rates, agents: store, limits, usage, audit: auditLog } = openStores()
const audit = auditRequests(auditLog)
const readCost = (key: SubjectKey) => readCostOf({ usage, system }, key)
const stores = { limits, system, readCost }
const rules = { kind: 'limit', Mismatch: InputSchemaMismatch }

/** Whose limits a path names. */
async function subjectOf({ access, agentId, tenantId }: Named): Promise<LimitSubject> {
  if (tenantId !== '') return { kind: 'tenant', id: tenantId }
  const { id } = await resolveAgent({ store, organizationId: access.organizationId, idOrSlug: agentId })
  return { kind: 'agent', id }
}

type Named = { access: Access; agentId: string; tenantId: string }

const list = async (request: Request<'list-limits'>) =>
  toPageResponse(await listLimits(stores, request), toLimitsRecord, request)

async function get(request: Request<'get-tenant-limits' | 'get-agent-limits'>) {
  const { access } = request
  const found = await getLimits(stores, { access, subject: await subjectOf(request) })
  return { status: 200, body: toLimitsDetails(found) }
}

async function put(request: Request<'put-tenant-limits' | 'put-agent-limits'>) {
  const { access, body } = request
  const given: GivenLimits = checkMembers(limitsBody, body, rules)
  const subject = await subjectOf(request)
  const stored = await putLimits(stores, { access, subject, given })
  const { organizationId } = access
  const warnings = hasCostLimit({ subject, limits: stored })
    ? await findCostWarnings({ agents: store, limits }, { organizationId, subject })
    : []
  return { status: 200, body: { ...toLimitsRecord(stored), ...(warnings.length > 0 && { warnings }) } }
}

async function remove(request: Request<'delete-tenant-limits' | 'delete-agent-limits'>) {
  const { access } = request
  await deleteLimits(stores, { access, subject: await subjectOf(request) })
  return { status: 204 }
}

export const handler = family({
  'list-limits': endpoint('list-limits', list, { rates, query: limitsPageParameters }),
  'get-tenant-limits': endpoint('get-tenant-limits', get, { rates }),
  'put-tenant-limits': endpoint('put-tenant-limits', put, { rates, audit }),
  'delete-tenant-limits': endpoint('delete-tenant-limits', remove, { rates, audit }),
  'get-agent-limits': endpoint('get-agent-limits', get, { rates }),
  'put-agent-limits': endpoint('put-agent-limits', put, { rates, audit }),
  'delete-agent-limits': endpoint('delete-agent-limits', remove, { rates, audit }),
})
