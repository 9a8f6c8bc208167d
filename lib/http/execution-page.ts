import { toExecutionRecord, toExecutionSummary } from '../api/to-execution-record.ts'
import { type Access, visibilityOf } from '../core/access.ts'
import { InvalidQueryParameter } from '../core/errors.ts'
import type { ExecutionStore } from '../core/ports.ts'
import type { Request } from './endpoint.ts'
import type { HttpResponse } from './event.ts'
import { BY_ID, parsePage, toPageResponse } from './page.ts'

type Scope = { organizationId: string; agentId: string | null }

/** A page of executions that a query asks for. @throws InvalidQueryParameter */
export async function listPage(
  executions: Pick<ExecutionStore, 'list' | 'listSummaries'>,
  scope: Scope,
  request: Request<'list-executions' | 'list-agent-executions'>,
): Promise<HttpResponse> {
  const { status = null, tenantId = null, fields, ...query } = request.query
  const params = {
    ...withAgents(scope, request.access),
    status,
    tenantId,
    ...parseRange(query),
    ...parsePage(query, BY_ID),
  }
  return fields === 'summary'
    ? toPageResponse(await executions.listSummaries(params), toExecutionSummary, request)
    : toPageResponse(await executions.list(params), toExecutionRecord, request)
}

/** A list of all agents, limited to those that the token may use. One agent has an index of its own. */
export function withAgents({ organizationId, agentId }: Scope, access: Access) {
  const { agentIds } = visibilityOf(access)
  if (agentId !== null || agentIds === null) return { organizationId, agentId }
  const [first = null] = agentIds
  return agentIds.length === 1
    ? { organizationId, agentId: first }
    : { organizationId, agentId: null, agentIds }
}

const toTime = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text))

function parseRange({ from, to }: { from?: string | undefined; to?: string | undefined }) {
  const range = { from: toTime(from), to: toTime(to) }
  if (range.from !== undefined && range.to !== undefined && range.from >= range.to)
    throw new InvalidQueryParameter([{ path: 'from', message: 'from must be before to.' }])
  return range
}
