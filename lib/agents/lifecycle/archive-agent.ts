import type { Agent } from '../../core/agent.ts'
import { AgentNotFound } from '../../core/errors.ts'
import { agentIdFrom } from '../../core/ids.ts'
import type { AgentReference } from '../resolve-agent.ts'
import { forgetCurrentVersion } from '../version-cache.ts'

/**
 * Archives an agent: it accepts no new runs and no versions, and lists leave it out. Its runs in progress finish.
 * @param archivedAt null restores the agent
 * @throws AgentNotFound
 */
export async function archiveAgent(
  { store, organizationId, idOrSlug }: AgentReference,
  archivedAt: string | null,
): Promise<Agent> {
  const id = agentIdFrom(organizationId, idOrSlug)
  const agent = id && (await store.setArchived({ organizationId, id, archivedAt }))
  if (!agent) throw new AgentNotFound()
  forgetCurrentVersion(agent.id)
  return agent
}
