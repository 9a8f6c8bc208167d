import type { ListToolsResult } from '@modelcontextprotocol/server'
import { type Access, hasScope, visibilityOf } from '../core/access.ts'
import { decodeCursor, encodeCursor } from '../core/cursor.ts'
import { PAGE_SIZE } from '../core/limits.ts'
import type { AgentStore } from '../core/ports.ts'
import { BY_CREATION } from '../http/page.ts'
import { AGENT_SCOPE, toAgentTool } from './agent-tools.ts'
import type { executionTools } from './execution-tools.ts'
import { InvalidParams } from './invalid-params.ts'

type Params = {
  agents: AgentStore
  serviceTools: ReturnType<typeof executionTools>
  access: Access
  cursor: string | undefined
}

/**
 * A page of the tools that the token may call: those of the service on the first one, then one per published agent, newest
 * first.
 * @throws InvalidParams
 */
export async function listTools({ agents, serviceTools, access, cursor }: Params): Promise<ListToolsResult> {
  const after = cursor === undefined ? null : decodeCursor(cursor, BY_CREATION)
  if (after === undefined) throw new InvalidParams('cursor must be the nextCursor of the previous page.')
  const allowed = [...serviceTools.values()].filter(({ scope }) => hasScope(access, scope))
  const first = after === null ? allowed.map(({ declaration }) => declaration) : []
  if (!hasScope(access, AGENT_SCOPE)) return { tools: first }
  const { organizationId, agentIds } = visibilityOf(access)
  const page = await agents.list({ organizationId, agentIds, limit: PAGE_SIZE.default, after })
  return {
    tools: [...first, ...page.items.flatMap(({ current }) => (current ? [toAgentTool(current)] : []))],
    ...(page.next && { nextCursor: encodeCursor(page.next) }),
  }
}
