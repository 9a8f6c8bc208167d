import { LRUCache } from 'lru-cache'
import type { Agent, Version } from '../core/agent.ts'
import { AgentArchived, type ServiceError, VersionNotFound, VersionRetired } from '../core/errors.ts'
import type { Execution } from '../core/execution.ts'
import { agentIdFrom } from '../core/ids.ts'
import type { AgentStore, VersionId } from '../core/ports.ts'
import { loadPatterns } from '../schema/patterns/load-pattern-engine.ts'
import { type AgentReference, resolveAgent } from './resolve-agent.ts'

/** How long runs may see the state before a publish, promotion, retirement or archiving by another process. */
const CURRENT_TTL_MS = 1_000
const MAX_VERSIONS = 200

/** Published versions by id: they never change. Drafts, which can be deleted, and missing versions are not cached. */
const versions = new LRUCache<string, Version>({ max: MAX_VERSIONS })

/** The current version of active agents, and their retired versions, by agent id. */
const currentVersions = new LRUCache<string, { version: Version; retired: Agent['retired'] }>({
  max: MAX_VERSIONS,
  ttl: CURRENT_TTL_MS,
})

/** `isArchived`: the agent accepts no new runs, of any version. `isRetired`: the version accepts none. */
export type ResolvedVersion = { version: Version; isArchived: boolean; isRetired: boolean }

/**
 * The version to run: the requested one (draft or published), or the agent's current one, which is cached in the
 * process for a second, with the ids of the retired ones. One read of the agent unless it is cached, and one of a
 * requested version.
 * @throws AgentNotFound; VersionNotFound, also for an agent that has only a draft
 */
export async function resolveVersion(
  params: AgentReference & { versionId: string | undefined },
): Promise<ResolvedVersion> {
  const { store, organizationId, idOrSlug, versionId } = params
  const agentId = agentIdFrom(organizationId, idOrSlug)
  const current = agentId ? currentVersions.get(agentId) : undefined
  const cached = current?.version.organizationId === organizationId ? current : undefined
  if (cached && (versionId ?? cached.version.id) === cached.version.id)
    return { version: cached.version, isArchived: false, isRetired: false }
  const [agent, requested] = await Promise.all([
    cached ? null : resolveAgent(params),
    agentId && versionId ? readVersion(store, { organizationId, agentId, id: versionId }) : null,
  ])
  const isArchived = agent !== null && agent.archivedAt !== null
  if (agent?.current && !isArchived) await cacheCurrentVersion(agent.current, agent.retired)
  const version = versionId ? requested : agent?.current
  if (!version) throw new VersionNotFound()
  const retired = agent?.retired ?? cached?.retired ?? {}
  return { version, isArchived, isRetired: retired[version.id] !== undefined }
}

/** Why a version accepts no new runs; null if it does. */
export function refusalOf({ isArchived, isRetired }: ResolvedVersion): ServiceError | null {
  if (isArchived) return new AgentArchived()
  return isRetired ? new VersionRetired('run') : null
}

async function cacheCurrentVersion(version: Version, retired: Agent['retired']): Promise<void> {
  await loadPatterns(version.inputSchema, version.outputSchema)
  currentVersions.set(version.agentId, { version, retired })
  versions.set(version.id, version)
}

/** To be called when this process publishes, promotes, retires or archives, so that its runs see it at once. */
export function forgetCurrentVersion(agentId: string): void {
  currentVersions.delete(agentId)
}

/** A version by id; reads it unless the process has it. */
async function readVersion(store: AgentStore, { organizationId, agentId, id }: VersionId) {
  const cached = versions.get(id)
  if (cached?.organizationId === organizationId && cached.agentId === agentId) return cached
  const version = await store.getVersion({ organizationId, agentId, id })
  if (version) await loadPatterns(version.inputSchema, version.outputSchema)
  if (version?.status === 'PUBLISHED') versions.set(id, version)
  return version
}

/** The version that an execution began with. */
export const resolveVersionOf = (
  store: AgentStore,
  { organizationId, agentId, versionId }: Pick<Execution, 'organizationId' | 'agentId' | 'versionId'>,
): Promise<Version | null> => readVersion(store, { organizationId, agentId, id: versionId })
