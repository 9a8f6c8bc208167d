import { promoteVersion, retireVersion } from '../../lib/agents/lifecycle/change-agent.ts'
import { deleteDraft } from '../../lib/agents/lifecycle/delete-draft.ts'
import { toAgentRecord, toVersionRecord } from '../../lib/api/to-agent-record.ts'
import type { Agent, Version } from '../../lib/core/agent.ts'
import { system } from '../../lib/system.ts'
import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { assertNotArchived, explainError, readAllPages } from '../find.ts'
import { formatCommand, relativeTime, textTable } from '../format.ts'
import { parseUuid } from '../options.ts'

export function addVersionsCommand(program: CliCommand): void {
  program
    .command('versions')
    .description("List an agent's versions including drafts, newest first.")
    .forAgent()
    .examples('versions redact-pii')
    .runWithAgent(async (agent, { reference: { store, organizationId } }) => {
      const versions = await readAllPages((page) =>
        store.listVersions({ organizationId, agentId: agent.id, ...page }),
      )
      const rows = versions.map((version) => [
        version.id,
        describeStatus(version, agent),
        relativeTime(version.createdAt),
        version.title,
        version.message ?? '-',
      ])
      return {
        json: versions.map((version) => toVersionRecord(version, agent)),
        text: textTable(['VERSION', 'STATUS', 'CREATED', 'TITLE', 'MESSAGE'], rows),
      }
    })
}

/** An agent has at most one draft: a later draft or a published version supersedes it. */
function describeStatus({ id, status }: Version, { current, draftVersionId, retired }: Agent): string {
  if (retired[id] !== undefined) return 'retired'
  if (status === 'DRAFT') return id === draftVersionId ? 'draft' : 'superseded draft'
  return id === current?.id ? 'current' : 'published'
}

export function addPromoteCommand(program: CliCommand): void {
  program
    .command('promote')
    .description('Make a version current: the draft as it is, or an older version again.')
    .forAgent()
    .argument('[version]', 'ID of the version; default: the draft', parseUuid)
    .examples('promote redact-pii', 'promote redact-pii 01a2003b-879e-76ff-97ee-7005494d15b8')
    .runWithAgent(async (found, { reference, options, args: [versionArgument] }) => {
      assertNotArchived(found, options)
      const { slug, current } = found
      const versionId = versionArgument ?? found.draftVersionId
      if (versionId === null) {
        const list = formatCommand(options, `versions ${slug}`)
        throw new UserError(`Agent ${slug} has no draft. Specify a version. List versions: ${list}`)
      }
      const agent = await promoteVersion({ ...reference, system, versionId }).catch((error: unknown) => {
        throw explainError(error, { slug, versionId, options })
      })
      const isNew = current?.id !== versionId
      const text = `Version ${versionId} of ${slug} ${isNew ? 'is now current' : 'was already current'}.`
      const rollback =
        current && isNew ? [`Roll back: ${formatCommand(options, `promote ${slug} ${current.id}`)}`] : []
      return { json: toAgentRecord(agent), text: [text, ...rollback].join('\n') }
    })
}

export function addDeleteVersionCommand(program: CliCommand): void {
  program
    .command('delete-version')
    .description('Delete a draft and its code. Published versions cannot be deleted.')
    .forAgent()
    .argument('<version>', 'ID of the draft', parseUuid)
    .examples('delete-version redact-pii 01a2003b-879e-76ff-97ee-7005494d15b8')
    .runWithAgent(
      async ({ slug }, { reference, stores: { executions }, options, args: [versionId = ''] }) => {
        await deleteDraft({ ...reference, executions, versionId }).catch((error: unknown) => {
          throw explainError(error, { slug, versionId, options })
        })
        const text = `Deleted the draft ${versionId} of ${slug}.`
        return { json: { id: versionId, deleted: true }, text }
      },
    )
}

/** The commands `retire` and `unretire`. */
export function addRetireCommands(program: CliCommand): void {
  const add = (name: string, description: string, isRetiring: boolean) =>
    program
      .command(name)
      .description(description)
      .forAgent()
      .argument('<version>', 'ID of the version', parseUuid)
      .examples(`${name} redact-pii 01a2003b-879e-76ff-97ee-7005494d15b8`)
      .runWithAgent(async ({ slug, current }, { reference, options, args: [versionId = ''] }) => {
        if (isRetiring && current?.id === versionId)
          throw new UserError(
            `Version ${versionId} is the current one of ${slug}. Promote another one first: ${formatCommand(options, `promote ${slug} <version>`)}`,
            { details: { code: 'VersionNotRetirable' } },
          )
        const retiredAt = isRetiring ? new Date(system.now()).toISOString() : null
        const retiring = retireVersion({ ...reference, versionId }, retiredAt)
        const { version, agent } = await retiring.catch((error: unknown) => {
          throw explainError(error, { slug, versionId, options })
        })
        const text = isRetiring
          ? `Retired version ${versionId} of ${slug}. Make it usable again: ${formatCommand(options, `unretire ${slug} ${versionId}`)}`
          : `Version ${versionId} of ${slug} is usable again.`
        return { json: toVersionRecord(version, agent), text }
      })
  add(
    'retire',
    'Retire a version: it accepts no new runs and cannot become current. Its runs in progress finish.',
    true,
  )
  add('unretire', 'Make a retired version usable again.', false)
}
