import { mayUseAgent } from '../access/permissions.ts'
import type { Access } from '../core/access.ts'
import type { Agent } from '../core/agent.ts'
import { agentIdFrom, isUuid } from '../core/ids.ts'
import type { AgentStore } from '../core/ports/agents.ts'
import { AgentNotFound, VersionNotFound } from '../core/resource-errors.ts'

export type AgentReference = { store: AgentStore; organizationId: string; idOrSlug: string }

/** @throws AgentNotFound, also for another organization's agent */
export async function resolveAgent({ store, organizationId, idOrSlug }: AgentReference): Promise<Agent> {
  const id = agentIdFrom(organizationId, idOrSlug)
  const agent = id && (await store.get({ organizationId, id }))
  if (!agent) throw new AgentNotFound()
  return agent
}

/** The ID of an agent that a token may use; null for none. @throws AgentNotFound */
export async function findAgentId(
  store: AgentStore,
  access: Access,
  idOrSlug: string | undefined,
): Promise<string | null> {
  if (idOrSlug === undefined) return null
  if (!mayUseAgent(access, idOrSlug)) throw new AgentNotFound()
  const { id } = await resolveAgent({ store, organizationId: access.organizationId, idOrSlug })
  return id
}

/** @throws VersionNotFound if the text is not a UUID */
export function parseVersionId(text: string): string {
  if (!isUuid(text)) throw new VersionNotFound()
  return text.toLowerCase()
}
