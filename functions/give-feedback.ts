import { openStores } from '../lib/dynamodb/open-stores.ts'
import { giveFeedback } from '../lib/engine/learning/feedback.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { executionIdFrom, recordReply } from '../lib/http/execution-reply.ts'
import { feedbackFrom } from '../lib/http/feedback-body.ts'
import { system } from '../lib/system.ts'

const { agents, executions } = openStores()

async function putFeedback({ organizationId, executionId, body }: Request<'give-feedback'>) {
  const id = executionIdFrom(executionId)
  return recordReply(
    await giveFeedback({ agents, executions, system }, { organizationId, id, feedback: feedbackFrom(body) }),
  )
}

export const handler = endpoint('give-feedback', putFeedback)
