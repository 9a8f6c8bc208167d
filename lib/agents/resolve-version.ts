import type { Version } from '../core/agent.ts'
import { VersionNotFound } from '../core/errors.ts'
import { agentIdFrom } from '../core/ids.ts'
import { type AgentReference, resolveAgent } from './resolve-agent.ts'
import { cacheCurrentVersion, cachedCurrentVersion, readVersion } from './version-cache.ts'

/**
 * The version to run: the requested one (draft or published), or the agent's current one, which is cached in the
 * process for a second. At most one read.
 * @throws AgentNotFound; VersionNotFound, also for an agent that has only a draft
 */
export async function resolveVersion(
  params: AgentReference & { versionId: string | undefined },
): Promise<Version> {
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
  await cacheCurrentVersion(current)
  return current
}
