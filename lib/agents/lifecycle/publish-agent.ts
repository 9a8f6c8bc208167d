import type { Agent, Version } from '../../core/agent.ts'
import { ServiceError } from '../../core/errors.ts'
import { agentIdOf } from '../../core/ids.ts'
import { sha256 } from '../../core/json/hash-json.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { WebhookStore } from '../../core/ports/notifications.ts'
import type { System } from '../../core/ports/system.ts'
import { AgentArchived, TrialRequired, VersionNotFound, VersionRetired } from '../../core/resource-errors.ts'
import type { AgentDocument } from '../document/document.ts'
import { toContent } from '../document/version-content.ts'
import { forgetCurrentVersion } from '../resolve-version.ts'
import { promoteVersion } from './change-agent.ts'
import { requiresTrial } from './gate.ts'

/** A valid agent, bundled and ready to publish. */
export type PublishableAgent = { document: AgentDocument; code: string | null }

/** Identifies the content of a version. */
export const digestOf = ({ document, code }: PublishableAgent): string =>
  sha256(JSON.stringify([document, code]))

type Params = {
  store: AgentStore
  system: System
  organizationId: string
  createdBy: string
  /** Its name, for those who see the version later. */
  createdByName?: string | undefined
  agent: PublishableAgent
  draft: boolean
  /** What the author says about the version. */
  message?: string | undefined
  /** The version that was edited in the console. */
  editedFrom?: string | undefined
}

/** `isNew`: false if a version with this content existed. */
export type Published = { version: Version; isNew: boolean }

/**
 * Publishes an agent as its current version, or as its draft. Content that is already current (for a draft: already the
 * draft, or that of the rollout) creates no version. Publishing the content of the draft, or of the rollout's version,
 * promotes that one.
 * @throws AgentArchived; VersionNotFound if the edited version is gone; TrialRequired if the current version does not
 *   allow it, also for the content of the draft
 */
export async function publishAgent(params: Params): Promise<Published> {
  const { store, organizationId, draft } = params
  let version = toVersion(params, await findOrigin(params))
  const { agentId, status } = version
  let isWritten = false
  const discard = async () => {
    if (isWritten) await store.deleteVersion({ ...version, status })
  }
  for (;;) {
    const agent = await store.get({ organizationId, id: agentId })
    if (agent && agent.archivedAt !== null) {
      await discard()
      throw new AgentArchived()
    }
    const identical = agent && (await findIdentical(params, agent, version))
    if (identical) {
      await discard()
      return { version: identical, isNew: false }
    }
    if (!draft && requiresTrial(agent?.current ?? null)) {
      await discard()
      throw new TrialRequired()
    }
    const replaces = (draft ? agent?.draftVersionId : agent?.current?.id) ?? null
    if (version.number === undefined) version = { ...version, number: await store.takeNumber({ agentId }) }
    const mustSync = !draft && (version.schedules ?? agent?.current?.schedules)
    const syncAt = mustSync ? params.system.now() : null
    if (await store.publish({ version, code: params.agent.code, replaces, isWritten, syncAt })) {
      forgetCurrentVersion(agentId)
      return { version, isNew: true }
    }
    // Another request has changed the agent in the meantime.
    isWritten = true
  }
}

/** The version that has this content already. Promotes the one that is to be published; skips a retired one. */
async function findIdentical(
  params: Params,
  agent: Agent,
  { digest, status }: Version,
): Promise<Version | null> {
  const { store, organizationId } = params
  const { id: agentId, current, draftVersionId, retired, rollout } = agent
  if (status === 'PUBLISHED' && current?.digest === digest) return current
  for (const id of [draftVersionId, rollout?.versionId]) {
    const found = id ? await store.getVersion({ organizationId, agentId, id }) : null
    if (found?.digest !== digest || retired[found.id] !== undefined) continue
    return status === 'DRAFT' ? found : promoteIdentical(params, found)
  }
  return null
}

/** Null if the version was deleted or retired in the meantime, or needs a trial, as any other version. */
async function promoteIdentical(
  { store, system, organizationId, createdBy, createdByName, message }: Params,
  version: Version,
): Promise<Version | null> {
  const isDraft = version.status === 'DRAFT'
  try {
    const reference = { store, organizationId, idOrSlug: version.agentId }
    const by = { by: createdBy, ...(createdByName && { byName: createdByName }) }
    await promoteVersion({ ...reference, system, versionId: version.id, by, message })
    return { ...version, status: 'PUBLISHED', ...(isDraft && message !== undefined && { message }) }
  } catch (error) {
    if ([VersionNotFound, VersionRetired, TrialRequired].some((each) => error instanceof each)) return null
    throw error
  }
}

/** Where a version that is made from another one begins: the last one before it that came from a repository. */
async function findOrigin({ store, organizationId, agent, editedFrom: id }: Params): Promise<string | null> {
  if (id === undefined) return null
  const agentId = agentIdOf(organizationId, agent.document.slug)
  const edited = await store.getVersion({ organizationId, agentId, id })
  if (!edited) throw new VersionNotFound()
  return edited.editedFrom ?? edited.id
}

function toVersion(params: Params, editedFrom: string | null): Version {
  const { system, organizationId, createdBy, createdByName, agent, draft, message } = params
  const { document, code } = agent
  return {
    id: system.newId(),
    agentId: agentIdOf(organizationId, document.slug),
    organizationId,
    status: draft ? 'DRAFT' : 'PUBLISHED',
    createdAt: new Date(system.now()).toISOString(),
    createdBy,
    ...(createdByName && { createdByName }),
    ...toContent(document),
    digest: digestOf(agent),
    documentHash: sha256(JSON.stringify(document)),
    ...(code !== null && { codeHash: sha256(code) }),
    ...(message !== undefined && { message }),
    ...(editedFrom && { editedFrom }),
    ...(!draft && { neverReplaced: true }),
  }
}

/** A remote agent could not tell who asks. @throws ServiceError `BadRequest` without a secret that signs requests */
export async function assertSigned(
  webhooks: Pick<WebhookStore, 'hasSigningSecret'>,
  organizationId: string,
  { document }: PublishableAgent,
): Promise<void> {
  if (!document.remote?.url || (await webhooks.hasSigningSecret({ organizationId }))) return
  throw new ServiceError(
    'BadRequest',
    'A remote agent needs the default webhook secret of your organization, which signs requests to its URL. POST /v1/webhooks/default/rotate creates it.',
  )
}
