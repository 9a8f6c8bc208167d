import { LRUCache } from 'lru-cache'
import type { Agent, Version } from '../core/agent.ts'
import type { ServiceError } from '../core/errors.ts'
import type { Execution } from '../core/execution.ts'
import { agentIdFrom } from '../core/ids.ts'
import type { AgentStore, VersionId } from '../core/ports/agents.ts'
import { AgentArchived, VersionNotFound, VersionRetired } from '../core/resource-errors.ts'
import { type Rollout, type SelectedBy, selects } from '../core/rollout.ts'
import { loadPatterns } from '../schema/patterns/load-pattern-engine.ts'
import { type AgentReference, resolveAgent } from './resolve-agent.ts'

/** How long runs may see the state before a publish, promotion, rollout, retirement or archiving by another process. */
const CURRENT_TTL_MS = 1_000
const MAX_VERSIONS = 200

/** Published versions by id: they never change. Drafts, which can be deleted, and missing versions are not cached. */
const versions = new LRUCache<string, Version>({ max: MAX_VERSIONS })

/** What runs of an active agent get. */
type Current = { version: Version; retired: Agent['retired']; rollout: Rollout | null }

/** By agent id. */
const currentVersions = new LRUCache<string, Current>({ max: MAX_VERSIONS, ttl: CURRENT_TTL_MS })

/**
 * The run that a version is chosen for. `executionId`: of its execution, of its batch, or of its parent;
 * for a request with an idempotency key, the key.
 */
export type VersionedRun = { tenantId: string | null; executionId: string }

/** `isArchived`: the agent accepts no new runs, of any version. `isRetired`: the version accepts none. */
export type ResolvedVersion = {
  version: Version
  selectedBy: SelectedBy
  isArchived: boolean
  isRetired: boolean
}

/**
 * The version to run: the requested one (draft or published), that of a rollout if it selects the run, or the agent's
 * current one. The agent's current version, its rollout and the ids of its retired versions are cached in the process
 * for a second; of other published versions the process keeps the latest. One read of the agent unless it is cached,
 * and one of a requested version.
 * @param params.run null: no run is started
 * @throws AgentNotFound; VersionNotFound, also for an agent that has only a draft
 */
export async function resolveVersion(
  params: AgentReference & { versionId: string | undefined; run: VersionedRun | null },
): Promise<ResolvedVersion> {
  const { store, organizationId, idOrSlug, versionId, run } = params
  const agentId = agentIdFrom(organizationId, idOrSlug)
  const known = agentId ? currentVersions.get(agentId) : undefined
  const cached = known?.version.organizationId === organizationId ? known : undefined
  const [agent, requested] = await Promise.all([
    cached ? null : resolveAgent(params),
    agentId && versionId && versionId !== cached?.version.id
      ? readVersion(store, { organizationId, agentId, id: versionId })
      : null,
  ])
  const isArchived = agent !== null && agent.archivedAt !== null
  const current = cached ?? (agent && toCurrent(agent))
  if (agent && current && !isArchived) await cacheCurrent(current)
  const retired = agent?.retired ?? cached?.retired ?? {}
  const found = (version: Version, selectedBy: SelectedBy): ResolvedVersion => ({
    version,
    selectedBy,
    isArchived,
    isRetired: retired[version.id] !== undefined,
  })
  if (versionId) {
    const version = versionId === cached?.version.id ? cached.version : requested
    if (!version) throw new VersionNotFound()
    return found(version, 'REQUEST')
  }
  if (!current) throw new VersionNotFound()
  const { rollout } = current
  if (!rollout || !run || !selects(rollout, run)) return found(current.version, 'CURRENT')
  const rolledOut = await readVersion(store, {
    organizationId,
    agentId: current.version.agentId,
    id: rollout.versionId,
  })
  return rolledOut ? found(rolledOut, 'ROLLOUT') : found(current.version, 'CURRENT')
}

/** Why a version accepts no new runs; null if it does. */
export function refusalOf({ isArchived, isRetired }: ResolvedVersion): ServiceError | null {
  if (isArchived) return new AgentArchived()
  return isRetired ? new VersionRetired('run') : null
}

const toCurrent = ({ current: version, retired, rollout }: Agent): Current | null =>
  version && { version, retired, rollout }

async function cacheCurrent(current: Current): Promise<void> {
  const { version } = current
  await loadPatterns(version.inputSchema, version.outputSchema)
  currentVersions.set(version.agentId, current)
  versions.set(version.id, version)
}

/** To be called when this process changes what runs of the agent get, so that its runs see it at once. */
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
