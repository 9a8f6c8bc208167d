import type { Command } from 'commander'
import { toAgentRecord } from '../../lib/api/mappers/to-agent-record.ts'
import { readAllPages, withOrganization } from '../find.ts'
import { formatCommand, formatExamples, relativeTime, textTable } from '../format.ts'
import { orgOption } from '../options.ts'
import { toAction } from '../output.ts'

export function addListCommand(program: Command): void {
  program
    .command('list')
    .description('List the agents of an organization, newest first.')
    .addOption(orgOption())
    .addHelpText('after', formatExamples('list'))
    .action(
      toAction((options) =>
        withOrganization(options, async (stores, { id: organizationId, name }) => {
          const agents = await readAllPages((page) => stores.agents.list({ organizationId, ...page }))
          const rows = agents.map(({ slug, title, current, draftVersionId, updatedAt }) => [
            slug,
            title,
            current?.id ?? 'draft only',
            draftVersionId ?? '-',
            relativeTime(updatedAt),
          ])
          const text =
            rows.length > 0
              ? textTable(['SLUG', 'TITLE', 'CURRENT VERSION', 'DRAFT', 'UPDATED'], rows)
              : `${name} has no agents. Publish one: ${formatCommand(options, 'publish <folder>')}`
          return { json: agents.map(toAgentRecord), text }
        }),
      ),
    )
}
