import type { Version } from '../../clients/typescript/src/index.ts'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import { agentCommand, type CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { assertNotArchived, explainFor, nextVersionOf } from '../explain-errors.ts'
import { formatCommand, relativeTime, textTable } from '../format.ts'
import { parseUuid } from '../options.ts'
import { readAll } from '../take.ts'

export function addVersionsCommand(program: CliCommand): void {
  agentCommand(program, 'versions')
    .description("List an agent's versions including drafts, newest first.")
    .examples('versions redact-pii')
    .runWithAgent('read', 'list the versions', async (agent, { client }) => {
      const versions = await readAll(client.versions(agent.id, { limit: 100 }))
      const rows = versions.map((version) => [
        version.id,
        describeStatus(version, agent),
        relativeTime(version.createdAt),
        version.title,
        version.message ?? '-',
      ])
      return {
        json: versions,
        text: textTable(['VERSION', 'STATUS', 'CREATED', 'TITLE', 'MESSAGE'], rows),
      }
    })
}

/** An agent has at most one draft: a later draft or a published version supersedes it. */
function describeStatus(
  { id, status, retiredAt, rollout, abortedRollout }: Version,
  { currentVersionId, draftVersionId }: AgentRecord,
): string {
  if (retiredAt !== null) return 'retired'
  if (rollout) return `rollout ${rollout.percent} %`
  if (id !== currentVersionId && abortedRollout) return 'aborted rollout'
  if (status === 'DRAFT') return id === draftVersionId ? 'draft' : 'superseded draft'
  return id === currentVersionId ? 'current' : 'published'
}

export function addPromoteCommand(program: CliCommand): void {
  agentCommand(program, 'promote')
    .description('Make a version current: the draft as it is, or an older version again.')
    .argument(
      '[version]',
      'ID of the version; default: the draft, or that of the rollout, unless there are both',
      parseUuid,
    )
    .option('--trial <id>', 'only if this trial of the version meets the gate of the current one', parseUuid)
    .examples(
      'promote redact-pii',
      'promote redact-pii --trial 01a2003b-8f87-750a-aa33-59d20cae9811',
      'promote redact-pii 01a2003b-879e-76ff-97ee-7005494d15b8',
    )
    .runWithAgent<{ trial?: string }>(
      'manage and read',
      'promote the version',
      async (agent, { client, options, versionId: given }) => {
        const { id, slug, currentVersionId } = agent
        assertNotArchived(agent, options)
        const versionId = given || nextVersionOf(agent, 'the version', options)
        const promoting = client.promote(id, versionId, { trial: options.trial })
        const json = await promoting.catch(explainFor({ slug, versionId, options }))
        const isNew = currentVersionId !== versionId
        const text = `Version ${versionId} of ${slug} ${isNew ? 'is now current' : 'was already current'}.`
        const rollback = formatCommand(options, `promote ${slug} ${currentVersionId}`)
        return { json, text: currentVersionId && isNew ? `${text}\nRoll back: ${rollback}` : text }
      },
    )
}

/** A command on one version of an agent. */
const versionCommand = (program: CliCommand, name: string): CliCommand =>
  agentCommand(program, name)
    .argument('<version>', 'ID of the version', parseUuid)
    .examples(`${name} redact-pii 01a2003b-879e-76ff-97ee-7005494d15b8`)

export function addDeleteVersionCommand(program: CliCommand): void {
  versionCommand(program, 'delete-version')
    .description('Delete a draft and its code. Published versions cannot be deleted.')
    .runWithAgent('manage and read', 'delete the draft', async ({ id, slug }, { client, versionId }) => {
      await client.deleteVersion(id, versionId)
      return {
        json: { id: versionId, deleted: true },
        text: `Deleted the draft ${versionId} of ${slug}.`,
      }
    })
}

export function addRetireCommand(program: CliCommand): void {
  versionCommand(program, 'retire')
    .description(
      'Retire a version: it accepts no new runs and cannot become current. Its runs in progress finish.',
    )
    .runWithAgent(
      'manage and read',
      'retire the version',
      async ({ id, slug, currentVersionId }, { client, options, versionId }) => {
        if (currentVersionId === versionId)
          throw new UserError(
            `Version ${versionId} is the current one of ${slug}. Promote another one first: ${formatCommand(options, `promote ${slug} <version>`)}`,
            { details: { code: 'VersionNotRetirable' } },
          )
        const undo = formatCommand(options, `unretire ${slug} ${versionId}`)
        return {
          json: await client.retire(id, versionId),
          text: `Retired version ${versionId} of ${slug}. Make it usable again: ${undo}`,
        }
      },
    )
}

export function addUnretireCommand(program: CliCommand): void {
  versionCommand(program, 'unretire')
    .description('Make a retired version usable again.')
    .runWithAgent(
      'manage and read',
      'make the version usable again',
      async ({ id, slug }, { client, versionId }) => ({
        json: await client.unretire(id, versionId),
        text: `Version ${versionId} of ${slug} is usable again.`,
      }),
    )
}
