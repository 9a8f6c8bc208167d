import type { Agent } from '../../core/agent.ts'
import { AgentArchived, VersionNotFound, VersionRetired } from '../../core/errors.ts'
import type { System } from '../../core/ports.ts'
import { type AgentReference, resolveAgent } from '../resolve-agent.ts'
import { forgetCurrentVersion } from '../version-cache.ts'

/** `message`: replaces that of a draft. */
type Params = AgentReference & { system: System; versionId: string; message?: string | undefined }

/**
 * Makes a version current as it is: a draft, or an older version again. Does nothing if it is current.
 * @throws AgentNotFound, VersionNotFound, AgentArchived, VersionRetired
 */
export async function promoteVersion(params: Params): Promise<Agent> {
  const { store, system, organizationId, versionId: id, message } = params
  for (;;) {
    const agent = await resolveAgent(params)
    if (agent.archivedAt !== null) throw new AgentArchived()
    if (agent.current?.id === id) return agent
    if (agent.retired[id] !== undefined) throw new VersionRetired('promotion')
    const { id: agentId, draftVersionId } = agent
    const version = { organizationId, agentId, id }
    const promotedAt = new Date(system.now()).toISOString()
    const promoted = await store.promote({ ...version, draftVersionId, promotedAt, message })
    if (promoted) {
      forgetCurrentVersion(agentId)
      return promoted
    }
    // Another request has changed the agent, or there is no such version.
    if (!(await store.getVersion(version))) throw new VersionNotFound()
  }
}
