import { decisionBody } from '../lib/contract/bodies/replies.ts'
import { approvalPageParameters } from '../lib/contract/parameters/lists.ts'
import { toApprovalRecord } from '../lib/contract/records/approval.ts'
import type { JsonObject } from '../lib/core/json/json.ts'
import { InputSchemaMismatch } from '../lib/core/request-errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { decideApproval } from '../lib/engine/waiting/decide-approval.ts'
import { listApprovals, listDecided } from '../lib/engine/waiting/list-approvals.ts'
import { openDecider } from '../lib/engine/waiting/open-decider.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, family, type Request } from '../lib/http/endpoint.ts'
import { checkMembers } from '../lib/http/json-body.ts'
import { toPageResponse } from '../lib/http/responses.ts'
import { openRunQueue } from '../lib/sqs/run-queue.ts'
import { system } from '../lib/system.ts'

const { rates, ...stores } = openStores()
const audit = auditRequests(stores.audit)
const queue = openRunQueue()

async function decide({ access, executionId, approvalId, body, ...request }: Request<'decide-approval'>) {
  const { decision, note = null } = checkMembers(decisionBody, body, {
    kind: 'field of a decision',
    Mismatch: InputSchemaMismatch,
  })
  // From the body itself, because zod drops a `__proto__` key from its copy.
  const input = (body.input ?? null) as JsonObject | null
  request.note({ isEdited: input !== null })
  const given = { access, executionId, approvalId, decision, input, note }
  return { status: 200, body: await decideApproval({ ...stores, queue, system }, given) }
}

async function listPage(request: Request<'list-approvals'>) {
  const { access } = request
  const { agent, tenantId, fields, decided, ...page } = request.query
  const list = decided ? listDecided : listApprovals
  const { items, next } = await list({ ...stores, queue, system }, { access, agent, tenantId, page })
  const isSummary = fields === 'summary'
  const mayDecide = openDecider(stores.tokens, access)
  const records = await Promise.all(
    items.map(async (approval) =>
      toApprovalRecord(approval, { isSummary, mayDecide: await mayDecide(approval, approval.execution) }),
    ),
  )
  return toPageResponse({ items: records, next }, (record) => record, request)
}

export const handler = family({
  'decide-approval': endpoint('decide-approval', decide, { rates, audit }),
  'list-approvals': endpoint('list-approvals', listPage, { rates, query: approvalPageParameters }),
})
