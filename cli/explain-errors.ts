import { AgentError } from '../clients/typescript/src/index.ts'
import type { AgentRecord } from '../lib/contract/records/agent.ts'
import { ServiceError } from '../lib/core/errors.ts'
import { AgentArchived } from '../lib/core/resource-errors.ts'
import { findSimilarName } from '../lib/schema/similar-names.ts'
import type { Connection } from './connect.ts'
import { UserError } from './errors.ts'
import { formatCommand } from './format.ts'
import type { SharedOptions } from './options.ts'
import { take } from './take.ts'

const MAX_SIMILAR = 100

/** @throws UserError that suggests a similar slug */
export async function findAgent(
  { client, organization, options }: Connection,
  idOrSlug: string,
): Promise<AgentRecord> {
  const finding = client.agent(idOrSlug).catch(async (error: unknown) => {
    if (!organization || !(error instanceof AgentError && error.code === 'AgentNotFound')) throw error
    const agents = await take(client.agents({ limit: MAX_SIMILAR }), MAX_SIMILAR)
    const slugs = agents.map(({ slug }) => slug)
    const similar = findSimilarName(idOrSlug, slugs)
    throw new UserError(
      `Agent ${idOrSlug} not found in organization ${organization.name}. ` +
        (similar ? `Did you mean ${similar}? ` : '') +
        (slugs.length > 0
          ? `List agents: ${formatCommand(options, 'list')}`
          : `Publish one: ${formatCommand(options, 'publish <folder>')}`),
      { details: { code: error.code } },
    )
  })
  return (await finding) as AgentRecord
}

type Subject = { slug: string; versionId?: string | undefined; options: SharedOptions }

/** The error to print for one about an agent or its version: it names the command that helps. */
export function explainError(error: unknown, { slug, versionId, options }: Subject): unknown {
  if (!(error instanceof AgentError || error instanceof ServiceError)) return error
  const { code, message } = error
  const explain = (text: string, command: string) =>
    new UserError(`${text}: ${formatCommand(options, command)}`, { details: { code } })
  switch (code) {
    case 'VersionNotFound':
      return explain(`Version ${versionId} not found for agent ${slug}. List versions`, `versions ${slug}`)
    case 'VersionRetired':
      return explain(
        `Version ${versionId} of ${slug} is retired. Make it usable again`,
        `unretire ${slug} ${versionId}`,
      )
    case 'AgentArchived':
      return explain(`Agent ${slug} is archived. Restore it`, `restore ${slug}`)
    case 'TrialRequired': {
      const steps = [`publish <folder> --draft`, ...stepsToRelease(slug)]
      const commands = steps.map((command) => `  ${formatCommand(options, command)}`)
      const text = `The current version of ${slug} requires a trial of what replaces it:`
      return new UserError([text, ...commands].join('\n'), { details: { code } })
    }
    case 'TrialNotFound':
      return explain(`There is no such trial of this version of ${slug}. List trials`, 'trials list')
    case 'TrialFailed': {
      const { trialId, runs, verdicts, costIncrease, limits } = error as AgentError & { code: 'TrialFailed' }
      return new UserError(message, { details: { code, trialId, runs, verdicts, costIncrease, limits } })
    }
    default:
      return error
  }
}

/** For `catch`. */
export const explainFor =
  (subject: Subject) =>
  (error: unknown): never => {
    throw explainError(error, subject)
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
  options: SharedOptions,
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
  { slug, archivedAt }: Pick<AgentRecord, 'slug' | 'archivedAt'>,
  options: SharedOptions,
): void {
  if (archivedAt !== null) throw explainError(new AgentArchived(), { slug, options })
}
