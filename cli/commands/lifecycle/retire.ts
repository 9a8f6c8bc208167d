import type { Command } from 'commander'
import { retireVersion } from '../../../lib/agents/lifecycle/retire-version.ts'
import { toVersionRecord } from '../../../lib/api/mappers/to-agent-record.ts'
import { system } from '../../../lib/system.ts'
import { UserError } from '../../errors.ts'
import { findAgent, toVersionError, type VersionReference, withOrganization } from '../../find.ts'
import { formatCommand, formatExamples } from '../../format.ts'
import { orgOption, parseUuid } from '../../options.ts'
import { toAction } from '../../output.ts'

type Definition = { name: 'retire' | 'unretire'; description: string; retires: boolean }

/** The commands `retire` and `unretire`. */
export function addRetireCommands(program: Command): void {
  addCommand(program, {
    name: 'retire',
    description:
      'Retire a version: it accepts no new runs and cannot become current. Its runs in progress finish.',
    retires: true,
  })
  addCommand(program, {
    name: 'unretire',
    description: 'Make a retired version usable again.',
    retires: false,
  })
}

function addCommand(program: Command, { name, description, retires }: Definition): void {
  program
    .command(name)
    .description(description)
    .argument('<slug>', "the agent's slug or ID")
    .argument('<version>', 'ID of the version', parseUuid)
    .addOption(orgOption())
    .addHelpText('after', formatExamples(`${name} redact-pii 01a2003b-879e-76ff-97ee-7005494d15b8`))
    .action(
      toAction((options, [idOrSlug = '', argument = '']) =>
        withOrganization(options, async (stores, organization) => {
          const { slug, current } = await findAgent({ stores, organization, idOrSlug, options })
          const versionId = argument.toLowerCase()
          if (retires && current?.id === versionId) throw currentError({ slug, versionId, options })
          const reference = { store: stores.agents, organizationId: organization.id, idOrSlug, versionId }
          const retiredAt = retires ? new Date(system.now()).toISOString() : null
          const { version, agent } = await retireVersion(reference, retiredAt).catch((error: unknown) => {
            throw toVersionError(error, { slug, versionId, options })
          })
          const text = retires
            ? `Retired version ${versionId} of ${slug}. Make it usable again: ${formatCommand(options, `unretire ${slug} ${versionId}`)}`
            : `Version ${versionId} of ${slug} is usable again.`
          return { json: toVersionRecord(version, agent), text }
        }),
      ),
    )
}

const currentError = ({ slug, versionId, options }: VersionReference): UserError =>
  new UserError(
    `Version ${versionId} is the current one of ${slug}. Promote another one first: ${formatCommand(options, `promote ${slug} <version>`)}`,
    { details: { code: 'VersionNotRetirable' } },
  )
