import type { Command } from 'commander'
import { toVersionRecord } from '../../lib/api/mappers/to-agent-record.ts'
import type { Agent, Version } from '../../lib/core/agent.ts'
import { chooseOrganization } from '../choose-organization.ts'
import { examples } from '../command-line.ts'
import { findAgent } from '../find-agent.ts'
import { orgOption } from '../options.ts'
import { answering } from '../output.ts'
import { readAll } from '../read-all.ts'
import { relativeTime } from '../relative-time.ts'
import { withStore } from '../store.ts'
import { textTable } from '../text-table.ts'

export function addVersions(program: Command): void {
  program
    .command('versions')
    .description("Lists an agent's versions, drafts among them, newest first.")
    .argument('<slug>', "the agent's slug or id")
    .addOption(orgOption())
    .addHelpText('after', examples('versions redact-pii'))
    .action(
      answering(async (options, [idOrSlug = '']) => {
        const { agent, versions } = await withStore(options, async (store) => {
          const organization = await chooseOrganization(store, options)
          const agent = await findAgent({ store, organization, idOrSlug, options })
          const ids = { organizationId: organization.id, agentId: agent.id }
          return { agent, versions: await readAll((page) => store.agents.listVersions({ ...ids, ...page })) }
        })
        const rows = versions.map((version) => [
          version.id,
          standing(version, agent),
          relativeTime(version.createdAt),
          version.title,
        ])
        return {
          json: versions.map(toVersionRecord),
          text: textTable(['VERSION', 'STATUS', 'CREATED', 'TITLE'], rows),
        }
      }),
    )
}

/** A draft is old once a later one, or a published version, has taken its place. */
function standing({ id, status }: Version, { current, draftVersionId }: Agent): string {
  if (status === 'DRAFT') return id === draftVersionId ? 'draft' : 'old draft'
  return id === current?.id ? 'current' : 'published'
}
