import type { Version } from '../core/agent.ts'
import { VersionNotFound } from '../core/errors.ts'
import { agentIdFrom } from '../core/ids.ts'
import { type AgentReference, resolveAgent } from './resolve-agent.ts'
import { cacheCurrentVersion, cachedCurrentVersion, readVersion } from './version-cache.ts'

/** `isArchived`: the agent accepts no new runs, of any version. `isRetired`: the version accepts none. */
export type ResolvedVersion = { version: Version; isArchived: boolean; isRetired: boolean }

/**
 * The version to run: the requested one (draft or published), or the agent's current one, which is cached in the process for a
 * second, with the ids of the retired ones. One read of the agent unless it is cached, and one of a requested version.
 * @throws AgentNotFound; VersionNotFound, also for an agent that has only a draft
 */
export async function resolveVersion(
  params: AgentReference & { versionId: string | undefined },
): Promise<ResolvedVersion> {
  const { store, organizationId, idOrSlug, versionId } = params
  const agentId = agentIdFrom(organizationId, idOrSlug)
  const cached = agentId ? cachedCurrentVersion(organizationId, agentId) : undefined
  if (cached && (versionId ?? cached.version.id) === cached.version.id)
    return { version: cached.version, isArchived: false, isRetired: false }
  const [agent, requested] = await Promise.all([
    cached ? null : resolveAgent(params),
    agentId && versionId ? readVersion(store, { organizationId, agentId, id: versionId }) : null,
  ])
  const isArchived = agent !== null && agent.archivedAt !== null
  if (agent?.current && !isArchived)
    await cacheCurrentVersion({ version: agent.current, retired: agent.retired })
  const version = versionId ? requested : agent?.current
  if (!version) throw new VersionNotFound()
  const retired = agent?.retired ?? cached?.retired ?? {}
  return { version, isArchived, isRetired: retired[version.id] !== undefined }
}
