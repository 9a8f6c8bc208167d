import { suggestSlug } from '../lib/agents/visible-agents.ts'
import { executionPageParameters } from '../lib/api/parameters.ts'
import { toExecutionRecord, toExecutionSummary } from '../lib/api/to-execution-record.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { listExecutionSummaries, listExecutions } from '../lib/engine/executions/list-executions.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { toPageResponse } from '../lib/http/responses.ts'

const { rates, ...stores } = openStores()

async function list(request: Request<'list-agent-executions'>) {
  const { access } = request
  const query = { ...request.query, agent: request.agentId }
  return query.fields === 'summary'
    ? toPageResponse(await listExecutionSummaries(stores, access, query), toExecutionSummary, request)
    : toPageResponse(await listExecutions(stores, access, query), toExecutionRecord, request)
}

export const handler = endpoint('list-agent-executions', list, {
  rates,
  suggest: suggestSlug(stores.agents),
  query: executionPageParameters,
})
