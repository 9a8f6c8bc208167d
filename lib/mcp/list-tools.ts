import type { ListToolsResult } from '@modelcontextprotocol/server'
import { decodeCursor, encodeCursor } from '../core/cursor.ts'
import { PAGE_SIZE } from '../core/limits.ts'
import type { AgentStore } from '../core/ports.ts'
import { BY_CREATION } from '../http/page.ts'
import { toAgentTool } from './agent-tools.ts'
import type { executionTools } from './execution-tools.ts'
import { InvalidParams } from './invalid-params.ts'

type Params = {
  agents: AgentStore
  serviceTools: ReturnType<typeof executionTools>
  organizationId: string
  cursor: string | undefined
}

/** A page of tools: those of the service on the first one, then one per published agent, newest first. @throws InvalidParams */
export async function listTools({
  agents,
  serviceTools,
  organizationId,
  cursor,
}: Params): Promise<ListToolsResult> {
  const after = cursor === undefined ? null : decodeCursor(cursor, BY_CREATION)
  if (after === undefined) throw new InvalidParams('cursor must be the nextCursor of the previous page.')
  const page = await agents.list({ organizationId, limit: PAGE_SIZE.default, after })
  const first = after === null ? [...serviceTools.values()].map(({ declaration }) => declaration) : []
  return {
    tools: [...first, ...page.items.flatMap(({ current }) => (current ? [toAgentTool(current)] : []))],
    ...(page.next && { nextCursor: encodeCursor(page.next) }),
  }
}
