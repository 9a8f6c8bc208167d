import { hasScope, visibilityOf } from '../access/permissions.ts'
import type { Access } from '../core/access.ts'
import type { Agent } from '../core/agent.ts'
import { BY_CREATION, type PageQuery, parsePage } from '../core/cursor.ts'
import { isUuid } from '../core/ids.ts'
import { PAGE_SIZE } from '../core/limits.ts'
import type { AgentStore } from '../core/ports/agents.ts'
import type { Page } from '../core/ports/system.ts'
import { AgentNotFound } from '../core/resource-errors.ts'
import { findSimilarName } from '../schema/similar-names.ts'

type Agents = Pick<AgentStore, 'list'>

/** A page of the agents that a token may use, newest first. @throws InvalidCursor */
export async function listAgents(
  agents: Agents,
  access: Access,
  { archived = false, ...query }: PageQuery & { archived?: boolean | undefined },
): Promise<Page<Agent>> {
  const { organizationId, agentIds } = visibilityOf(access)
  return agents.list({ organizationId, agentIds, archived, ...parsePage(query, BY_CREATION) })
}

/**
 * Adds a similar slug to the error for an agent that was not found: the same for an agent that does not exist and for
 * one that the token may not use. Other errors stay as they are.
 */
export const suggestSlug =
  (agents: Agents) =>
  async (error: unknown, access: Access, idOrSlug: string): Promise<Error> => {
    const similar =
      error instanceof AgentNotFound ? await findSimilarSlug(agents, access, idOrSlug) : undefined
    return similar === undefined ? (error as Error) : new AgentNotFound(similar)
  }

/**
 * A slug that is similar to one that was not found, for "did you mean", among the newest agents that the token may
 * list. Best effort: undefined also if these cannot be read.
 * @param options.isPublished only agents with a published version: by default, all that tokens without the scope `read`
 * learn of
 */
export async function findSimilarSlug(
  agents: Agents,
  access: Access,
  slug: string,
  { isPublished = !hasScope(access, 'read') } = {},
): Promise<string | undefined> {
  if (isUuid(slug)) return undefined
  const page = await listAgents(agents, access, { limit: PAGE_SIZE.max }).catch(() => undefined)
  const candidates = page?.items.filter(({ current }) => current || !isPublished) ?? []
  const slugs = candidates.map((agent) => agent.slug)
  return findSimilarName(slug, slugs)
}
