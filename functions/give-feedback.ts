import { agentStore } from '../lib/dynamodb/agent-store.ts'
import { executionStore } from '../lib/dynamodb/execution-store.ts'
import { openTable } from '../lib/dynamodb/table.ts'
import { giveFeedback } from '../lib/engine/learning/feedback.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { executionIdFrom, recordReply } from '../lib/http/execution-reply.ts'
import { feedbackFrom } from '../lib/http/feedback-body.ts'
import { system } from '../lib/system.ts'

const table = openTable()
const parts = { agents: agentStore(table), executions: executionStore(table), system }

async function putFeedback({ organizationId, executionId, body }: Request<'give-feedback'>) {
  const id = executionIdFrom(executionId)
  return recordReply(await giveFeedback(parts, { organizationId, id, feedback: feedbackFrom(body) }))
}

export const handler = endpoint('give-feedback', putFeedback)
