import { resolveExecutionId } from '../lib/access/executions.ts'
import { mayTeach } from '../lib/access/permissions.ts'
import { feedbackBody } from '../lib/contract/bodies/replies.ts'
import type { JsonObject } from '../lib/core/json/json.ts'
import { FeedbackMismatch } from '../lib/core/request-errors.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { giveFeedback } from '../lib/engine/learning/feedback.ts'
import { auditRequests } from '../lib/http/audit-requests.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { checkMembers } from '../lib/http/json-body.ts'
import { toRecordResponse } from '../lib/http/responses.ts'
import { system } from '../lib/system.ts'

const { agents, executions, rates, audit } = openStores()

async function putFeedback(request: Request<'give-feedback'>) {
  const { access, organizationId, body } = request
  const id = await resolveExecutionId(executions, request)
  const { rating, note = null } = checkMembers(feedbackBody, body, {
    kind: 'feedback field',
    Mismatch: FeedbackMismatch,
  })
  // From the body itself, because zod drops a `__proto__` key from its copy.
  const correctedOutput = (body.correctedOutput ?? null) as JsonObject | null
  const execution = await giveFeedback(
    { agents, executions, system },
    { organizationId, id, feedback: { rating, note, correctedOutput }, isReview: mayTeach(access) },
  )
  return toRecordResponse(execution, { access })
}

export const handler = endpoint('give-feedback', putFeedback, { rates, audit: auditRequests(audit) })
