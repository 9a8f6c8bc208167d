import type { Agent } from '../../core/agent.ts'
import {
  AgentArchived,
  InputSchemaMismatch,
  RolloutNotFound,
  VersionNotFound,
  VersionRetired,
} from '../../core/errors.ts'
import type { AgentStore, System } from '../../core/ports.ts'
import type { Rollout } from '../../core/rollout.ts'
import { type AgentReference, resolveAgent } from '../resolve-agent.ts'
import { forgetCurrentVersion } from '../resolve-version.ts'

export type AgentWithRollout = Agent & { rollout: Rollout }

type Start = AgentReference & {
  system: System
  rollout: Pick<Rollout, 'versionId' | 'percent' | 'key' | 'abort'>
}

/**
 * Starts a rollout, changes it, or replaces that of another version. A draft is published by it as it is, without
 * becoming current.
 * @throws AgentNotFound, VersionNotFound, AgentArchived, VersionRetired; InputSchemaMismatch for the current version,
 * and for an agent without one
 */
export async function putRollout({ system, rollout: given, ...reference }: Start): Promise<AgentWithRollout> {
  const { store, organizationId } = reference
  const { versionId: id } = given
  for (;;) {
    const agent = await resolveAgent(reference)
    const { id: agentId, draftVersionId, current, rollout: replaces } = agent
    if (agent.archivedAt !== null) throw new AgentArchived()
    if (!current) throw invalid('must be promoted: the agent has no current version')
    if (current.id === id) throw invalid('must not be the current version of the agent')
    if (agent.retired[id] !== undefined) throw new VersionRetired('promotion')
    if (!(await store.getVersion({ organizationId, agentId, id }))) throw new VersionNotFound()
    const now = system.now()
    const updatedAt = new Date(now).toISOString()
    const startedAt = replaces?.versionId === id ? replaces.startedAt : updatedAt
    const rollout: Rollout = { ...given, startedAt, updatedAt, revision: system.newId() }
    const read = { draftVersionId, current, replaces }
    const started = await store.setRollout({ organizationId, agentId, ...read, rollout, now })
    // Null: another request has changed the agent, or deleted the draft.
    if (!started) continue
    forgetCurrentVersion(agentId)
    return { ...started, rollout }
  }
}

const invalid = (text: string): InputSchemaMismatch =>
  new InputSchemaMismatch([{ path: '/versionId', message: `/versionId ${text}.` }])

/** @throws AgentNotFound, RolloutNotFound */
export async function getRollout(reference: AgentReference): Promise<AgentWithRollout> {
  const agent = await resolveAgent(reference)
  const { rollout } = agent
  if (!rollout) throw new RolloutNotFound()
  return { ...agent, rollout }
}

/** All runs get the current version again. @throws AgentNotFound, RolloutNotFound */
export async function endRollout(reference: AgentReference): Promise<void> {
  for (;;) {
    const { rollout, ...agent } = await getRollout(reference)
    if (await endRolloutOf(reference.store, agent, rollout)) return
  }
}

/** Null if it has changed. */
export async function endRolloutOf(
  store: Pick<AgentStore, 'endRollout'>,
  { organizationId, id: agentId }: Pick<Agent, 'organizationId' | 'id'>,
  rollout: Rollout,
): Promise<Agent | null> {
  const ended = await store.endRollout({ organizationId, agentId, rollout })
  if (ended) forgetCurrentVersion(agentId)
  return ended
}
