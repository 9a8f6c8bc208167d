import { LRUCache } from 'lru-cache'
import type { Agent, Version } from '../core/agent.ts'
import type { Execution } from '../core/execution.ts'
import type { AgentStore, VersionId } from '../core/ports.ts'
import { loadPatterns } from '../schema/patterns/load-pattern-engine.ts'

/** After a publish, promotion, retirement or archiving by another process, runs see the state before it for at most this long. */
const CURRENT_TTL_MS = 1_000
const MAX_VERSIONS = 200

/** Published versions by id: they never change. Drafts, which can be deleted, and missing versions are not cached. */
const versions = new LRUCache<string, Version>({ max: MAX_VERSIONS })
/** What an agent says about its versions. */
export type Current = { version: Version; retired: Agent['retired'] }

/** Of active agents, by agent id. */
const currentVersions = new LRUCache<string, Current>({ max: MAX_VERSIONS, ttl: CURRENT_TTL_MS })

/** A version by id; reads it unless the process has it. */
export async function readVersion(store: AgentStore, { organizationId, agentId, id }: VersionId) {
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

/** The agent's current version, and the retired ones, if the process has read them within the last second, and the agent was not archived. */
export function cachedCurrentVersion(organizationId: string, agentId: string): Current | undefined {
  const current = currentVersions.get(agentId)
  return current?.version.organizationId === organizationId ? current : undefined
}

export async function cacheCurrentVersion({ version, retired }: Current): Promise<void> {
  await loadPatterns(version.inputSchema, version.outputSchema)
  currentVersions.set(version.agentId, { version, retired })
  versions.set(version.id, version)
}

/** To be called when this process publishes, promotes, retires or archives, so that its runs see it at once. */
export function forgetCurrentVersion(agentId: string): void {
  currentVersions.delete(agentId)
}
