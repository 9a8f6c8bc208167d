import type { Command } from 'commander'
import { deleteDraft } from '../../../lib/agents/lifecycle/delete-draft.ts'
import { findAgent, toVersionError, withOrganization } from '../../find.ts'
import { formatExamples } from '../../format.ts'
import { orgOption, parseUuid } from '../../options.ts'
import { toAction } from '../../output.ts'

export function addDeleteVersionCommand(program: Command): void {
  program
    .command('delete-version')
    .description('Delete a draft and its code. Published versions cannot be deleted.')
    .argument('<slug>', "the agent's slug or ID")
    .argument('<version>', 'ID of the draft', parseUuid)
    .addOption(orgOption())
    .addHelpText('after', formatExamples('delete-version redact-pii 01a2003b-879e-76ff-97ee-7005494d15b8'))
    .action(
      toAction((options, [idOrSlug = '', argument = '']) =>
        withOrganization(options, async (stores, organization) => {
          const { slug } = await findAgent({ stores, organization, idOrSlug, options })
          const { agents: store, executions } = stores
          const versionId = argument.toLowerCase()
          const reference = { store, organizationId: organization.id, idOrSlug }
          await deleteDraft({ ...reference, executions, versionId }).catch((error: unknown) => {
            throw toVersionError(error, { slug, versionId, options })
          })
          return {
            json: { id: versionId, deleted: true },
            text: `Deleted the draft ${versionId} of ${slug}.`,
          }
        }),
      ),
    )
}
