import { openStores } from '../lib/dynamodb/open-stores.ts'
import { giveFeedback } from '../lib/engine/learning/feedback.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { parseExecutionId, toRecordResponse } from '../lib/http/execution-response.ts'
import { parseFeedback } from '../lib/http/feedback-body.ts'
import { system } from '../lib/system.ts'

const { agents, executions } = openStores()

async function putFeedback({ organizationId, executionId, body }: Request<'give-feedback'>) {
  const id = parseExecutionId(executionId)
  const feedback = parseFeedback(body)
  return toRecordResponse(
    await giveFeedback({ agents, executions, system }, { organizationId, id, feedback }),
  )
}

export const handler = endpoint('give-feedback', putFeedback)
