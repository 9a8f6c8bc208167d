import type { Agent, Version } from '../core/agent.ts'
import { AgentNotFound, VersionNotFound } from '../core/errors.ts'
import { agentIdFrom } from '../core/ids.ts'
import type { AgentStore } from '../core/ports.ts'

type Params = { store: AgentStore; organizationId: string; idOrSlug: string }

/** @throws AgentNotFound also for another organization's agent. */
export async function resolveAgent({ store, organizationId, idOrSlug }: Params): Promise<Agent> {
  const id = agentIdFrom(organizationId, idOrSlug)
  const agent = id && (await store.get({ organizationId, id }))
  if (!agent) throw new AgentNotFound()
  return agent
}

/**
 * The version to run: the one asked for, draft or not, else the agent's current one. One read either way.
 * @throws AgentNotFound, or VersionNotFound also for an agent of which only a draft exists
 */
export async function resolveVersion(params: Params & { versionId: string | undefined }): Promise<Version> {
  const { store, organizationId, idOrSlug, versionId } = params
  if (versionId) {
    const agentId = agentIdFrom(organizationId, idOrSlug)
    const version = agentId && (await store.getVersion({ organizationId, agentId, id: versionId }))
    if (version) return version
  }
  const agent = await resolveAgent(params)
  if (versionId || !agent.current) throw new VersionNotFound()
  return agent.current
}
