import type { Command } from 'commander'
import { promoteVersion } from '../../../lib/agents/lifecycle/promote-version.ts'
import { toAgentRecord } from '../../../lib/api/mappers/to-agent-record.ts'
import { system } from '../../../lib/system.ts'
import { UserError } from '../../errors.ts'
import { assertNotArchived, findAgent, toVersionError, withOrganization } from '../../find.ts'
import { formatCommand, formatExamples } from '../../format.ts'
import { orgOption, parseUuid } from '../../options.ts'
import { toAction } from '../../output.ts'

export function addPromoteCommand(program: Command): void {
  program
    .command('promote')
    .description('Make a version current: the draft as it is, or an older version again.')
    .argument('<slug>', "the agent's slug or ID")
    .argument('[version]', 'ID of the version; default: the draft', parseUuid)
    .addOption(orgOption())
    .addHelpText(
      'after',
      formatExamples('promote redact-pii', 'promote redact-pii 01a2003b-879e-76ff-97ee-7005494d15b8'),
    )
    .action(
      toAction((options, [idOrSlug = '', versionArgument]) =>
        withOrganization(options, async (stores, organization) => {
          const found = await findAgent({ stores, organization, idOrSlug, options })
          assertNotArchived(found, options)
          const { slug, current } = found
          const versionId = versionArgument?.toLowerCase() ?? found.draftVersionId
          if (versionId === null) {
            const list = formatCommand(options, `versions ${slug}`)
            throw new UserError(`Agent ${slug} has no draft. Specify a version. List versions: ${list}`)
          }
          const reference = { store: stores.agents, organizationId: organization.id, idOrSlug }
          const agent = await promoteVersion({ ...reference, system, versionId }).catch((error: unknown) => {
            throw toVersionError(error, { slug, versionId, options })
          })
          const isNew = current?.id !== versionId
          const text = isNew
            ? `Version ${versionId} of ${slug} is current now.`
            : `Version ${versionId} of ${slug} was current already.`
          const rollback =
            current && isNew ? [`Roll back: ${formatCommand(options, `promote ${slug} ${current.id}`)}`] : []
          return { json: toAgentRecord(agent), text: [text, ...rollback].join('\n') }
        }),
      ),
    )
}
