import type { Command } from 'commander'
import { archiveAgent } from '../../../lib/agents/lifecycle/archive-agent.ts'
import { toAgentRecord } from '../../../lib/api/mappers/to-agent-record.ts'
import { system } from '../../../lib/system.ts'
import { findAgent, withOrganization } from '../../find.ts'
import { formatCommand, formatExamples } from '../../format.ts'
import { orgOption } from '../../options.ts'
import { toAction } from '../../output.ts'

type Definition = { name: 'archive' | 'restore'; description: string; archives: boolean }

/** The commands `archive` and `restore`. */
export function addArchiveCommands(program: Command): void {
  addCommand(program, {
    name: 'archive',
    description:
      'Archive an agent: it accepts no new runs, and lists leave it out. Its runs in progress finish.',
    archives: true,
  })
  addCommand(program, { name: 'restore', description: 'Restore an archived agent.', archives: false })
}

function addCommand(program: Command, { name, description, archives }: Definition): void {
  program
    .command(name)
    .description(description)
    .argument('<slug>', "the agent's slug or ID")
    .addOption(orgOption())
    .addHelpText('after', formatExamples(`${name} redact-pii`))
    .action(
      toAction((options, [idOrSlug = '']) =>
        withOrganization(options, async (stores, organization) => {
          const { id, slug } = await findAgent({ stores, organization, idOrSlug, options })
          const reference = { store: stores.agents, organizationId: organization.id, idOrSlug: id }
          const archivedAt = archives ? new Date(system.now()).toISOString() : null
          const agent = await archiveAgent(reference, archivedAt)
          const text = archives
            ? `Archived ${slug}. Restore it: ${formatCommand(options, `restore ${slug}`)}`
            : `Restored ${slug}.`
          return { json: toAgentRecord(agent), text }
        }),
      ),
    )
}
