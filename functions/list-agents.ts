import { listAgents } from '../lib/agents/visible-agents.ts'
import { agentPageParameters } from '../lib/contract/parameters.ts'
import { toAgentRecord } from '../lib/contract/records/agent.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { endpoint, type Request } from '../lib/http/endpoint.ts'
import { toPageResponse } from '../lib/http/responses.ts'

const { agents, rates } = openStores()

const list = async (request: Request<'list-agents'>) =>
  toPageResponse(await listAgents(agents, request.access, request.query), toAgentRecord, request)

export const handler = endpoint('list-agents', list, { rates, query: agentPageParameters })
