import type { Command } from 'commander'
import { toAgentRecord } from '../../lib/api/mappers/to-agent-record.ts'
import { readAllPages, withOrganization } from '../find.ts'
import { formatCommand, formatExamples, relativeTime, textTable } from '../format.ts'
import { orgOption } from '../options.ts'
import { toAction } from '../output.ts'

type Options = { archived?: true }

export function addListCommand(program: Command): void {
  program
    .command('list')
    .description('List the agents of an organization, newest first.')
    .option('--archived', 'also list archived agents')
    .addOption(orgOption())
    .addHelpText('after', formatExamples('list', 'list --archived'))
    .action(
      toAction<Options>((options) =>
        withOrganization(options, async (stores, { id: organizationId, name }) => {
          const { archived = false } = options
          const agents = await readAllPages((page) =>
            stores.agents.list({ organizationId, archived, ...page }),
          )
          const rows = agents.map(({ slug, title, current, draftVersionId, updatedAt, archivedAt }) => [
            slug,
            title,
            current?.id ?? 'draft only',
            draftVersionId ?? '-',
            relativeTime(updatedAt),
            ...(archived ? [archivedAt === null ? '-' : relativeTime(archivedAt)] : []),
          ])
          const columns = [
            'SLUG',
            'TITLE',
            'CURRENT VERSION',
            'DRAFT',
            'UPDATED',
            ...(archived ? ['ARCHIVED'] : []),
          ]
          const text =
            rows.length > 0
              ? textTable(columns, rows)
              : `${name} has no agents. Publish one: ${formatCommand(options, 'publish <folder>')}`
          return { json: agents.map(toAgentRecord), text }
        }),
      ),
    )
}
