import type { Agent, Version } from '../core/agent.ts'
import { AgentNotFound, VersionNotFound } from '../core/errors.ts'
import { agentIdFrom } from '../core/ids.ts'
import type { AgentStore } from '../core/ports.ts'
import { cacheCurrentVersion, cachedCurrentVersion, readVersion } from './version-cache.ts'

type Params = { store: AgentStore; organizationId: string; idOrSlug: string }

/** @throws AgentNotFound, also for another organization's agent */
export async function resolveAgent({ store, organizationId, idOrSlug }: Params): Promise<Agent> {
  const id = agentIdFrom(organizationId, idOrSlug)
  const agent = id && (await store.get({ organizationId, id }))
  if (!agent) throw new AgentNotFound()
  return agent
}

/**
 * The version to run: the requested one (draft or published), or the agent's current one, which is cached in the
 * process for a second. At most one read.
 * @throws AgentNotFound; VersionNotFound, also for an agent that has only a draft
 */
export async function resolveVersion(params: Params & { versionId: string | undefined }): Promise<Version> {
  const { store, organizationId, idOrSlug, versionId } = params
  const agentId = agentIdFrom(organizationId, idOrSlug)
  if (agentId && versionId) {
    const version = await readVersion(store, { organizationId, agentId, id: versionId })
    if (version) return version
  }
  const cached = agentId && !versionId && cachedCurrentVersion(organizationId, agentId)
  if (cached) return cached
  const { current } = await resolveAgent(params)
  if (versionId || !current) throw new VersionNotFound()
  cacheCurrentVersion(current)
  return current
}
