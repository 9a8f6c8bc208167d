import type { Command } from 'commander'
import { toAgentRecord } from '../../lib/api/mappers/to-agent-record.ts'
import { chooseOrganization } from '../choose-organization.ts'
import { commandLine, examples } from '../command-line.ts'
import { orgOption } from '../options.ts'
import { answering } from '../output.ts'
import { readAll } from '../read-all.ts'
import { relativeTime } from '../relative-time.ts'
import { withStore } from '../store.ts'
import { textTable } from '../text-table.ts'

export function addList(program: Command): void {
  program
    .command('list')
    .description('Lists the agents of an organization, newest first.')
    .addOption(orgOption())
    .addHelpText('after', examples('list'))
    .action(
      answering(async (options) => {
        const { organization, agents } = await withStore(options, async (store) => {
          const organization = await chooseOrganization(store, options)
          const organizationId = organization.id
          return {
            organization,
            agents: await readAll((page) => store.agents.list({ organizationId, ...page })),
          }
        })
        const rows = agents.map(({ slug, title, current, draftVersionId, updatedAt }) => [
          slug,
          title,
          current ? current.id : 'only a draft',
          draftVersionId ?? '-',
          relativeTime(updatedAt),
        ])
        const none = `${organization.name} has no agents yet. Publish one: ${commandLine(options, 'publish <folder>')}`
        const text = textTable(['SLUG', 'TITLE', 'CURRENT VERSION', 'DRAFT', 'UPDATED'], rows)
        return { json: agents.map(toAgentRecord), text: agents.length > 0 ? text : none }
      }),
    )
}
