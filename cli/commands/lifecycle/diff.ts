import type { Command } from 'commander'
import { compareVersions } from '../../../lib/api/comparison/compare-versions.ts'
import { toVersionDetails } from '../../../lib/api/mappers/to-agent-record.ts'
import type { Agent, Version } from '../../../lib/core/agent.ts'
import type { Stores } from '../../../lib/dynamodb/open-stores.ts'
import { UserError } from '../../errors.ts'
import { findAgent, versionNotFound, withOrganization } from '../../find.ts'
import { formatCommand, formatExamples } from '../../format.ts'
import { describeComparison } from '../../format-comparison.ts'
import { orgOption, parseUuid, type SharedOptions } from '../../options.ts'
import { toAction } from '../../output.ts'

export function addDiffCommand(program: Command): void {
  program
    .command('diff')
    .description(
      'Compare two versions of an agent. Without versions: the current one and the draft, or the one before it and the current one.',
    )
    .argument('<slug>', "the agent's slug or ID")
    .argument('[before]', 'ID of a version', parseUuid)
    .argument('[after]', 'ID of another version; default: the current one', parseUuid)
    .addOption(orgOption())
    .addHelpText('after', formatExamples('diff redact-pii', 'diff redact-pii <version> <version>'))
    .action(
      toAction((options, [idOrSlug = '', before, after]) =>
        withOrganization(options, async (stores, organization) => {
          const agent = await findAgent({ stores, organization, idOrSlug, options })
          const find = (id: string) => findVersion(stores, agent, id.toLowerCase(), options)
          const [a, b] = before
            ? [await find(before), after ? await find(after) : currentOf(agent, options)]
            : await findDefaults(stores, agent, options)
          const comparison = compareVersions(toVersionDetails(a, agent), toVersionDetails(b, agent))
          return {
            json: { before: a.id, after: b.id, ...comparison },
            text: describeComparison(agent, a, b, comparison),
          }
        }),
      ),
    )
}

/** Older versions that are searched for a published one. */
const PAGE_SIZE = 100

type Pair = [before: Version, after: Version]

async function findDefaults(stores: Stores, agent: Agent, options: SharedOptions): Promise<Pair> {
  const current = currentOf(agent, options)
  if (agent.draftVersionId) return [current, await findVersion(stores, agent, agent.draftVersionId, options)]
  const { organizationId, id: agentId } = agent
  const page = { limit: PAGE_SIZE, after: { order: current.id } }
  const { items } = await stores.agents.listVersions({ organizationId, agentId, ...page })
  const previous = items.find(({ status }) => status === 'PUBLISHED')
  if (previous) return [previous, current]
  throw new UserError(`Agent ${agent.slug} has no earlier published version. Specify two versions.`)
}

function currentOf({ current, slug }: Agent, options: SharedOptions): Version {
  if (current) return current
  const list = formatCommand(options, `versions ${slug}`)
  throw new UserError(`Agent ${slug} has no published version. Specify two versions. List them: ${list}`)
}

async function findVersion(
  { agents }: Stores,
  { organizationId, id: agentId, slug }: Agent,
  id: string,
  options: SharedOptions,
): Promise<Version> {
  const version = await agents.getVersion({ organizationId, agentId, id })
  if (!version) throw versionNotFound({ slug, versionId: id, options })
  return version
}
