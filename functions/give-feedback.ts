import { mayTeach } from '../lib/core/access.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { giveFeedback } from '../lib/engine/learning/feedback.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { resolveExecutionId } from '../lib/http/execution-id.ts'
import { toChangeResponse } from '../lib/http/execution-response.ts'
import { parseFeedback } from '../lib/http/feedback-body.ts'
import { system } from '../lib/system.ts'

const { agents, executions, rates } = openStores()

async function putFeedback(request: Request<'give-feedback'>) {
  const { access, organizationId, body } = request
  const id = await resolveExecutionId(executions, request)
  const feedback = parseFeedback(body)
  const execution = await giveFeedback(
    { agents, executions, system },
    { organizationId, id, feedback, isReview: mayTeach(access) },
  )
  return toChangeResponse(execution, access)
}

export const handler = endpoint('give-feedback', putFeedback, { rates })
