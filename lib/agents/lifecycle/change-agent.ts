import type { Agent, Promotion, Version } from '../../core/agent.ts'
import { agentIdFrom } from '../../core/ids.ts'
import { MAX_RETIRED_VERSIONS } from '../../core/limits.ts'
import type { System } from '../../core/ports/system.ts'
import {
  AgentArchived,
  AgentNotFound,
  VersionNotFound,
  VersionNotRetirable,
  VersionRetired,
} from '../../core/resource-errors.ts'
import { type AgentReference, resolveAgent } from '../resolve-agent.ts'
import { forgetCurrentVersion } from '../resolve-version.ts'
import { assertMayRelease, type ReleaseTrial } from './gate.ts'

type Promoted = AgentReference & {
  system: System
  versionId: string
  /** Who promotes it. */
  by: Omit<Promotion, 'at'>
  /** Replaces that of a draft. */
  message?: string | undefined
  /** What the version has to have passed. */
  trial?: ReleaseTrial | undefined
  /** Called with the version that was current, if another one is now. */
  onReplace?: ((versionId: string | null) => void) | undefined
}

/**
 * Makes a version current as it is: a draft, or a previous version. That ends a rollout. Does nothing if it is current.
 * The document of the version that is replaced decides whether it may.
 * @throws AgentNotFound, VersionNotFound, AgentArchived, VersionRetired, TrialRequired, TrialNotFound, TrialFailed
 */
export async function promoteVersion(params: Promoted): Promise<Agent> {
  const { store, system, organizationId, versionId: id, by, message, trial } = params
  for (;;) {
    const agent = await resolveAgent(params)
    if (agent.archivedAt !== null) throw new AgentArchived()
    if (agent.current?.id === id) return agent
    if (agent.retired[id] !== undefined) throw new VersionRetired('promotion')
    await assertMayRelease({ store, agent, versionId: id, trial })
    const { id: agentId, draftVersionId, current } = agent
    const version = { organizationId, agentId, id }
    const now = system.now()
    const promotion = { at: new Date(now).toISOString(), ...by }
    const read = { draftVersionId, current }
    const promoted = await store.promote({ ...version, ...read, promotion, syncAt: now, message })
    if (promoted) {
      forgetCurrentVersion(agentId)
      params.onReplace?.(current?.id ?? null)
      return promoted
    }
    // Another request has changed the agent, or there is no such version.
    if (!(await store.getVersion(version))) throw new VersionNotFound()
  }
}

/**
 * Retires a version, published or a draft: it accepts no new runs and cannot become current. Its runs in progress
 * finish. The agent records it, as it records the current version: a retirement and a promotion cannot overtake each
 * other.
 * @param retiredAt null makes the version usable again; retiring it twice keeps the first time
 * @throws AgentNotFound, VersionNotFound; VersionNotRetirable for the current version, for that of a rollout, and for
 * too many
 */
export async function retireVersion(
  { versionId: id, ...reference }: AgentReference & { versionId: string },
  retiredAt: string | null,
): Promise<{ agent: Agent; version: Version }> {
  const { store, organizationId } = reference
  const found = await resolveAgent(reference)
  const params = { organizationId, agentId: found.id, id }
  const version = await store.getVersion(params)
  if (!version) throw new VersionNotFound()
  const isNew = retiredAt !== null && found.retired[id] === undefined
  if (isNew && Object.keys(found.retired).length >= MAX_RETIRED_VERSIONS)
    throw new VersionNotRetirable(
      `The agent has ${MAX_RETIRED_VERSIONS} retired versions, which is the maximum. Unretire one of them first.`,
    )
  const agent = await store.setRetired({ ...params, retiredAt })
  if (agent) {
    forgetCurrentVersion(agent.id)
    return { agent, version }
  }
  if (retiredAt === null) throw new AgentNotFound()
  const { rollout } = await resolveAgent(reference)
  throw new VersionNotRetirable(
    rollout?.versionId === id
      ? 'A rollout runs this version. End the rollout first.'
      : 'This version is the current one of the agent. Promote another version first.',
  )
}

/**
 * Archives an agent: it accepts no new runs and no versions, and lists leave it out. Its runs in progress finish.
 * @param archivedAt null restores the agent
 * @throws AgentNotFound
 */
export async function archiveAgent(
  { store, organizationId, idOrSlug }: AgentReference,
  archivedAt: string | null,
): Promise<Agent> {
  const id = agentIdFrom(organizationId, idOrSlug)
  const agent = id && (await store.setArchived({ organizationId, id, archivedAt }))
  if (!agent) throw new AgentNotFound()
  forgetCurrentVersion(agent.id)
  return agent
}
