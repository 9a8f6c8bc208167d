import { AgentError } from '../clients/typescript/src/index.ts'
import { resolveAgent } from '../lib/agents/resolve-agent.ts'
import { type ResolvedVersion, resolveVersion, type VersionedRun } from '../lib/agents/resolve-version.ts'
import type { AgentRecord } from '../lib/contract/records/agent.ts'
import type { Agent, Organization } from '../lib/core/agent.ts'
import {
  AgentArchived,
  AgentNotFound,
  ServiceError,
  VersionNotFound,
  VersionRetired,
} from '../lib/core/errors.ts'
import type { Page, PageRequest } from '../lib/core/ports/system.ts'
import { readPages } from '../lib/core/read-pages.ts'
import type { Stores } from '../lib/dynamodb/open-stores.ts'
import { findSimilarName } from '../lib/schema/similar-names.ts'
import { DEVELOPMENT_ORGANIZATION } from '../local/development.ts'
import { UserError } from './errors.ts'
import { formatCommand } from './format.ts'
import type { SharedOptions } from './options.ts'
import { type TableStores, withStores } from './stores.ts'
import { take } from './take.ts'

const PAGE_SIZE = 100

type AgentParams = { stores: Stores; organization: Organization; idOrSlug: string; options: SharedOptions }

/** Opens the stores and finds the organization that a command works on. */
export function withOrganization<T>(
  options: SharedOptions,
  work: (stores: TableStores, organization: Organization) => Promise<T>,
): Promise<T> {
  return withStores(options, async (stores) => work(stores, await findOrganization(stores, options)))
}

/**
 * The organization given with `--org`, by default the development organization, or the only one of a stack.
 * @throws UserError that lists the organizations or tells how to create one
 */
export async function findOrganization(
  { organizations }: Stores,
  { org, stack }: SharedOptions,
): Promise<Organization> {
  const id = org ?? (stack ? undefined : DEVELOPMENT_ORGANIZATION.id)
  const create = `Create one: ${formatCommand({ stack }, 'orgs create --name <text>')}`
  if (id) {
    const organization = await organizations.get({ id })
    if (organization) return organization
    const list = `List organizations: ${formatCommand({ stack }, 'orgs list')}`
    throw new UserError(`Organization ${id} not found. ${list}. ${create}`, {
      details: { code: 'OrganizationNotFound' },
    })
  }
  const all = await readAllPages((page) => organizations.list(page))
  const [only] = all
  if (!only) throw new UserError(`The stack has no organizations. ${create}`)
  if (all.length === 1) return only
  throw new UserError('The stack has several organizations. Select one with --org.', {
    details: { organizations: all.map(({ id, name }) => ({ id, name })) },
    lines: all.map(({ id, name }) => `${id}  ${name}`),
  })
}

/** @throws UserError that suggests a similar slug */
export async function findAgent({ stores, organization, idOrSlug, options }: AgentParams): Promise<Agent> {
  try {
    return await resolveAgent({ store: stores.agents, organizationId: organization.id, idOrSlug })
  } catch (error) {
    if (!(error instanceof AgentNotFound)) throw error
    const page = { organizationId: organization.id, limit: PAGE_SIZE, after: null }
    const slugs = (await stores.agents.list(page)).items.map(({ slug }) => slug)
    const similar = findSimilarName(idOrSlug, slugs)
    throw new UserError(
      `Agent ${idOrSlug} not found in organization ${organization.name}. ` +
        (similar ? `Did you mean ${similar}? ` : '') +
        (slugs.length > 0
          ? `List agents: ${formatCommand(options, 'list')}`
          : `Publish one: ${formatCommand(options, 'publish <folder>')}`),
      { details: { code: error.code } },
    )
  }
}

/**
 * The version with the given id (published or draft), by default the one that a run gets.
 * @throws UserError that tells how to list the versions, run the draft or restore an archived agent
 */
export async function findVersion(
  params: AgentParams & { versionId: string | undefined; run: VersionedRun },
): Promise<Pick<ResolvedVersion, 'version' | 'selectedBy'>> {
  const { stores, organization, idOrSlug, versionId, run, options } = params
  try {
    const reference = { store: stores.agents, organizationId: organization.id, idOrSlug }
    const found = await resolveVersion({ ...reference, versionId, run })
    if (found.isArchived) throw new AgentArchived()
    if (found.isRetired) throw new VersionRetired('run')
    return found
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error
    // Only an explanation costs a second read of the agent.
    const agent = await findAgent(params)
    assertNotArchived(agent, options)
    const { slug, draftVersionId } = agent
    if (versionId || !(error instanceof VersionNotFound))
      throw explainError(error, { slug, versionId: versionId ?? agent.current?.id ?? '', options })
    throw new UserError(
      `Agent ${slug} has no published version. Run the draft with --version ${draftVersionId}, or publish the agent.`,
      { details: { code: error.code } },
    )
  }
}

type Subject = { slug: string; versionId?: string; options: SharedOptions }

/** The error to print for one about an agent or its version: it names the command that helps. */
export function explainError(error: unknown, { slug, versionId, options }: Subject): unknown {
  const explain = (message: string, command: string) =>
    new UserError(`${message}: ${formatCommand(options, command)}`, {
      details: { code: (error as ServiceError).code },
    })
  if (error instanceof VersionNotFound)
    return explain(`Version ${versionId} not found for agent ${slug}. List versions`, `versions ${slug}`)
  if (error instanceof VersionRetired)
    return explain(
      `Version ${versionId} of ${slug} is retired. Make it usable again`,
      `unretire ${slug} ${versionId}`,
    )
  if (error instanceof AgentArchived)
    return explain(`Agent ${slug} is archived. Restore it`, `restore ${slug}`)
  if (error instanceof ServiceError || error instanceof AgentError)
    return explainTrial({ ...error, detail: error.message }, { slug, options }) ?? error
  return error
}

type Target = Parameters<typeof formatCommand>[0]

/** The members of an error of the service, from wherever it is. */
type Refusal = { code?: string | undefined; detail: string; members?: Record<string, unknown> } & Record<
  string,
  unknown
>

/** The error to print for one about the trial that a release needs; null for others. */
export function explainTrial(
  { code, detail, members, ...figures }: Refusal,
  { slug, options }: { slug: string; options: Target },
): UserError | null {
  if (code === 'TrialRequired') {
    const steps = [`publish <folder> --draft`, ...stepsToRelease(slug)]
    const commands = steps.map((command) => `  ${formatCommand(options, command)}`)
    const message = `The current version of ${slug} requires a trial of what replaces it:`
    return new UserError([message, ...commands].join('\n'), { details: { code } })
  }
  if (code === 'TrialNotFound') {
    const list = formatCommand(options, 'trials list')
    return new UserError(`There is no such trial of this version of ${slug}. List trials: ${list}`, {
      details: { code },
    })
  }
  if (code !== 'TrialFailed') return null
  const { trialId, runs, verdicts, costIncrease, limits } = { ...figures, ...members } as typeof figures
  return new UserError(detail, { details: { code, trialId, runs, verdicts, costIncrease, limits } })
}

/** The commands that make a draft current where that requires a trial. */
export const stepsToRelease = (slug: string): [string, string] => [
  `trial ${slug} --max-cost <dollars>`,
  `promote ${slug} --trial <id>`,
]

/**
 * The version to release when a command names none: the draft, or that of the rollout.
 * @param how it is named
 * @throws UserError if there is none, or one of each
 */
export function nextVersionOf(
  { slug, draftVersionId, rollout }: Pick<AgentRecord, 'slug' | 'draftVersionId' | 'rollout'>,
  how: string,
  options: Target,
): string {
  if (draftVersionId && rollout && draftVersionId !== rollout.versionId)
    throw new UserError(
      `Agent ${slug} has the draft ${draftVersionId} and a rollout of ${rollout.versionId}. Specify ${how}.`,
      { details: { draftVersionId, rolloutVersionId: rollout.versionId } },
    )
  const next = draftVersionId ?? rollout?.versionId
  if (next) return next
  const list = formatCommand(options, `versions ${slug}`)
  throw new UserError(`Agent ${slug} has no draft. Specify ${how}. List versions: ${list}`)
}

/** @throws UserError that tells how to restore the agent */
export function assertNotArchived(
  { slug, archivedAt }: Pick<Agent, 'slug' | 'archivedAt'>,
  options: SharedOptions,
): void {
  if (archivedAt !== null) throw explainError(new AgentArchived(), { slug, options })
}

/** Reads all pages of a list, newest first. */
export const readAllPages = <T>(readPage: (page: PageRequest) => Promise<Page<T>>): Promise<T[]> =>
  take(readPages(readPage), Number.POSITIVE_INFINITY)
