import type { Agent, Version } from '../../core/agent.ts'
import { AgentNotFound, VersionNotFound, VersionNotRetirable } from '../../core/errors.ts'
import { MAX_RETIRED_VERSIONS } from '../../core/limits.ts'
import { type AgentReference, resolveAgent } from '../resolve-agent.ts'
import { forgetCurrentVersion } from '../version-cache.ts'

type Params = AgentReference & { versionId: string }

/**
 * Retires a version, published or a draft: it accepts no new runs and cannot become current. Its runs in progress finish.
 * The agent records it, so that it is one write with a promotion: neither can pass the other.
 * @param retiredAt null makes the version usable again; retiring it twice keeps the first time
 * @throws AgentNotFound, VersionNotFound; VersionNotRetirable for the current version and for too many
 */
export async function retireVersion(
  { versionId: id, ...reference }: Params,
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
  throw new VersionNotRetirable(
    'This version is the current one of the agent. Promote another version first.',
  )
}
