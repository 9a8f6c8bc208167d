import { resolveAgent } from '../lib/agents/resolve-agent.ts'
import { executionPageParameters } from '../lib/api/parameters.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { listPage } from '../lib/http/execution-page.ts'
import { suggestAgent } from '../lib/http/suggest-agent.ts'

const { agents, executions, rates } = openStores()

async function listAgentExecutions(request: Request<'list-agent-executions'>) {
  const { organizationId } = request
  const agent = await resolveAgent({ store: agents, organizationId, idOrSlug: request.agentId })
  return listPage(executions, { organizationId, agentId: agent.id }, request)
}

export const handler = endpoint('list-agent-executions', listAgentExecutions, {
  rates,
  suggestion: suggestAgent(agents),
  query: executionPageParameters,
})
