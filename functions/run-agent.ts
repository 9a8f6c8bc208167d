import { resolveVersion } from '../lib/agents/resolve-agent.ts'
import { ambient } from '../lib/ambient.ts'
import { agentStore } from '../lib/dynamodb/agent-store.ts'
import { executionStore } from '../lib/dynamodb/execution-store.ts'
import { stepStore } from '../lib/dynamodb/step-store.ts'
import { openTable } from '../lib/dynamodb/table.ts'
import { checkRunRequest } from '../lib/engine/check-run-request.ts'
import { runLater, runNow } from '../lib/engine/start-execution.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { acceptedReply, outputReply } from '../lib/http/execution-reply.ts'
import { runQueue } from '../lib/sqs/run-queue.ts'

const table = openTable()
const store = agentStore(table)
const engine = { agents: store, executions: executionStore(table), steps: stepStore(table), ambient }
const queue = runQueue()

async function runAgent({ organizationId, agentId, query, body, basePath }: Request<'run-agent'>) {
  const version = await resolveVersion({ store, organizationId, idOrSlug: agentId, versionId: query.version })
  const request = checkRunRequest(version, body, query)
  return query.execMode === 'async'
    ? acceptedReply(await runLater(engine, queue, request), basePath)
    : outputReply(await runNow(engine, request), basePath)
}

export const handler = endpoint('run-agent', runAgent)
