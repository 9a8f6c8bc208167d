import { suggestSlug } from '../lib/agents/visible-agents.ts'
import { executionPageParameters } from '../lib/contract/parameters/executions.ts'
import { toListedExecution } from '../lib/contract/records/execution.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { listExecutions } from '../lib/engine/executions/list-executions.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { toPageResponse } from '../lib/http/responses.ts'

const { rates, ...stores } = openStores()

async function list(request: Request<'list-agent-executions'>) {
  const query = { ...request.query, agent: request.agentId }
  return toPageResponse(await listExecutions(stores, request.access, query), toListedExecution, request)
}

export const handler = endpoint('list-agent-executions', list, {
  rates,
  suggest: suggestSlug(stores.agents),
  query: executionPageParameters,
})
