import { LRUCache } from 'lru-cache'
import type { Version } from '../core/agent.ts'
import type { Execution } from '../core/execution.ts'
import type { AgentStore } from '../core/ports.ts'

const known = new LRUCache<string, Version>({ max: 200 })

/** The version that an execution began with, read once a process: versions never change. */
export async function versionOf(agents: AgentStore, execution: Execution): Promise<Version | null> {
  const { organizationId, agentId, versionId } = execution
  const cached = known.get(versionId)
  if (cached) return cached
  const version = await agents.getVersion({ organizationId, agentId, id: versionId })
  if (version) known.set(versionId, version)
  return version
}
