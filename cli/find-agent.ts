import { closest, distance } from 'fastest-levenshtein'
import { resolveAgent, resolveVersion } from '../lib/agents/resolve-agent.ts'
import type { Agent, Organization, Version } from '../lib/core/agent.ts'
import { AgentNotFound, VersionNotFound } from '../lib/core/errors.ts'
import { commandLine } from './command-line.ts'
import type { Shared } from './output.ts'
import type { Store } from './store.ts'
import { UserError } from './user-error.ts'

type Params = { store: Store; organization: Organization; idOrSlug: string; options: Shared }

/** @throws UserError that names the agent that may have been meant */
export async function findAgent({ store, organization, idOrSlug, options }: Params): Promise<Agent> {
  try {
    return await resolveAgent({ store: store.agents, organizationId: organization.id, idOrSlug })
  } catch (error) {
    if (!(error instanceof AgentNotFound)) throw error
    const { items } = await store.agents.list({ organizationId: organization.id, limit: 100, after: null })
    const nearest = closest(
      idOrSlug,
      items.map(({ slug }) => slug),
    )
    const isNear = nearest && distance(idOrSlug, nearest) <= Math.max(2, idOrSlug.length / 3)
    throw new UserError(
      `There is no agent ${idOrSlug} in the organization ${organization.name}. ` +
        (isNear ? `Did you mean ${nearest}? ` : '') +
        (items.length > 0
          ? `See which there are: ${commandLine(options, 'list')}`
          : `Publish one: ${commandLine(options, 'publish <folder>')}`),
      { details: { code: error.code } },
    )
  }
}

/** The version to run: the one asked for, draft or not, else the current one. @throws UserError that says which there are */
export async function findVersion(params: Params & { versionId: string | undefined }): Promise<Version> {
  const { store, organization, idOrSlug, versionId, options } = params
  try {
    return await resolveVersion({ store: store.agents, organizationId: organization.id, idOrSlug, versionId })
  } catch (error) {
    if (error instanceof AgentNotFound) await findAgent(params)
    if (!(error instanceof VersionNotFound)) throw error
    const { slug, draftVersionId } = await findAgent(params)
    const message = versionId
      ? `The agent ${slug} has no version ${versionId}. See which there are: ${commandLine(options, `versions ${slug}`)}`
      : `The agent ${slug} has only a draft. Run it with --version ${draftVersionId}, or publish the agent first.`
    throw new UserError(message, { details: { code: error.code } })
  }
}
