import type { Agent } from '../core/agent.ts'
import { AgentNotFound, VersionNotFound } from '../core/errors.ts'
import { agentIdFrom, isUuid } from '../core/ids.ts'
import type { AgentStore } from '../core/ports.ts'

export type AgentReference = { store: AgentStore; organizationId: string; idOrSlug: string }

/** @throws AgentNotFound, also for another organization's agent */
export async function resolveAgent({ store, organizationId, idOrSlug }: AgentReference): Promise<Agent> {
  const id = agentIdFrom(organizationId, idOrSlug)
  const agent = id && (await store.get({ organizationId, id }))
  if (!agent) throw new AgentNotFound()
  return agent
}

/** @throws VersionNotFound if the text is not a UUID */
export function parseVersionId(text: string): string {
  if (!isUuid(text)) throw new VersionNotFound()
  return text.toLowerCase()
}
