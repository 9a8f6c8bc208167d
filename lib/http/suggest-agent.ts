import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { type Access, visibilityOf } from '../core/access.ts'
import { AgentNotFound } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import { PAGE_SIZE } from '../core/limits.ts'
import type { AgentStore } from '../core/ports.ts'
import { findSimilarName } from '../schema/similar-names.ts'
import type { ServiceEvent } from './event.ts'

/**
 * Adds a similar slug to the error for an agent that does not exist. It is one that the token may list: the error stays the same
 * for an agent that does not exist and for one that the token may not use. A request that succeeds reads nothing for it.
 */
export function suggestAgent(
  agents: Pick<AgentStore, 'list'>,
): MiddlewareObj<ServiceEvent, APIGatewayProxyResult> {
  return {
    onError: async (request) => {
      const { error, event } = request
      const slug = event.pathParameters?.agentId
      if (!(error instanceof AgentNotFound) || !event.access || slug === undefined) return
      const similar = await findSimilarSlug(agents, event.access, slug)
      if (similar !== undefined) request.error = new AgentNotFound(similar)
    },
  }
}

/**
 * A slug that is similar to one that was not found, for "did you mean", among the newest agents that the token may list. Best
 * effort: undefined also if these cannot be read.
 */
export async function findSimilarSlug(
  agents: Pick<AgentStore, 'list'>,
  access: Access,
  slug: string,
): Promise<string | undefined> {
  if (isUuid(slug)) return undefined
  const { organizationId, agentIds } = visibilityOf(access)
  const page = await agents
    .list({ organizationId, agentIds, limit: PAGE_SIZE.max, after: null })
    .catch(() => undefined)
  return findSimilarName(slug, page?.items.map((agent) => agent.slug) ?? [])
}
