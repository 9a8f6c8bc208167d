import { promoteVersion, retireVersion } from '../../lib/agents/lifecycle/change-agent.ts'
import { deleteDraft } from '../../lib/agents/lifecycle/delete-draft.ts'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import { toAgentRecord, toVersionRecord } from '../../lib/contract/records/agent.ts'
import type { Agent, Version } from '../../lib/core/agent.ts'
import { system } from '../../lib/system.ts'
import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import {
  assertNotArchived,
  explainError,
  findAgent,
  nextVersionOf,
  readAllPages,
  withOrganization,
} from '../find.ts'
import { formatCommand, relativeTime, textTable } from '../format.ts'
import { orgOption, parseUuid, type SharedOptions } from '../options.ts'
import { recorded } from '../recorded.ts'
import { callService, getRemote, type Remote, type RemoteOptions, tokenOption, urlOption } from '../remote.ts'
import type { TableStores } from '../stores.ts'

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
function describeStatus({ id, status }: Version, agent: Agent): string {
  const { current, draftVersionId, retired, rollout, abortedRollouts } = agent
  if (retired[id] !== undefined) return 'retired'
  if (id === rollout?.versionId) return `rollout ${rollout.percent} %`
  if (id !== current?.id && abortedRollouts[id]) return 'aborted rollout'
  if (status === 'DRAFT') return id === draftVersionId ? 'draft' : 'superseded draft'
  return id === current?.id ? 'current' : 'published'
}

type PromoteOptions = RemoteOptions & { trial?: string }

export function addPromoteCommand(program: CliCommand): void {
  program
    .command('promote')
    .description('Make a version current: the draft as it is, or an older version again.')
    .argument('<slug>', "the agent's slug or ID")
    .argument(
      '[version]',
      'ID of the version; default: the draft, or that of the rollout, unless there are both',
      parseUuid,
    )
    .option('--trial <id>', 'only if this trial of the version meets the gate of the current one', parseUuid)
    .addOption(urlOption('promote over HTTP on'))
    .addOption(tokenOption('manage and read'))
    .addOption(orgOption())
    .examples(
      'promote redact-pii',
      'promote redact-pii --trial 01a2003b-8f87-750a-aa33-59d20cae9811',
      'promote redact-pii 01a2003b-879e-76ff-97ee-7005494d15b8',
    )
    .run<PromoteOptions>(async (options, [idOrSlug = '', version]) => {
      const remote = getRemote(options)
      const promote = remote ? promoteOverHttp(remote) : promoteOnTable
      const { before, after, versionId } = await promote(options, idOrSlug, version)
      const { slug, currentVersionId } = before
      const isNew = currentVersionId !== versionId
      const text = `Version ${versionId} of ${slug} ${isNew ? 'is now current' : 'was already current'}.`
      const rollback =
        currentVersionId && isNew
          ? [`Roll back: ${formatCommand(options, `promote ${slug} ${currentVersionId}`)}`]
          : []
      return { json: after, text: [text, ...rollback].join('\n') }
    })
}

/** The agent before and after, as records. */
type Promoted<Record> = { before: Record; after: Record; versionId: string }
type Promote = (options: PromoteOptions, idOrSlug: string, version?: string) => Promise<Promoted<AgentRecord>>

const promoteOnTable: Promote = (options, idOrSlug, version) =>
  withOrganization(options, async (stores, organization) => {
    const { agents: store, batches } = stores
    const found = await findAgent({ stores, organization, idOrSlug, options })
    assertNotArchived(found, options)
    const before = toAgentRecord(found)
    const versionId = version ?? nextVersionOf(before, 'the version', options)
    const trial = options.trial === undefined ? undefined : { id: options.trial, batches }
    const organizationId = organization.id
    const reference = { store, organizationId, idOrSlug: found.id }
    const change = {
      ...{ organizationId, action: 'version.promote' as const, changes: { trial: options.trial } },
      target: { kind: 'version' as const, id: versionId, agentId: found.id },
    }
    const promoting = recorded(stores, options, change, (note) =>
      promoteVersion({
        ...{ ...reference, system, versionId, trial },
        onReplace: (from) => note({ currentVersionId: { from, to: versionId } }),
      }),
    )
    const after = await promoting.catch((error: unknown) => {
      throw explainError(error, { slug: found.slug, versionId, options })
    })
    return { before, after: toAgentRecord(after), versionId }
  })

const promoteOverHttp =
  (remote: Remote): Promote =>
  (options, idOrSlug, version) =>
    callService(remote, 'promote the version', async (client) => {
      const before = await client.agent(idOrSlug)
      const versionId = version ?? nextVersionOf(before, 'the version', options)
      const promoting = client.promote(before.id, versionId, { trial: options.trial })
      const after = await promoting.catch((error: unknown) => {
        throw explainError(error, { slug: before.slug, versionId, options })
      })
      return { before, after, versionId }
    })

export function addDeleteVersionCommand(program: CliCommand): void {
  program
    .command('delete-version')
    .description('Delete a draft and its code. Published versions cannot be deleted.')
    .forAgent()
    .argument('<version>', 'ID of the draft', parseUuid)
    .examples('delete-version redact-pii 01a2003b-879e-76ff-97ee-7005494d15b8')
    .runWithAgent(async ({ id: agentId, slug }, { reference, stores, options, args: [versionId = ''] }) => {
      const { organizationId } = reference
      const deleting = deleteDraftRecorded(stores, options, { organizationId, agentId, versionId })
      await deleting.catch((error: unknown) => {
        throw explainError(error, { slug, versionId, options })
      })
      const text = `Deleted the draft ${versionId} of ${slug}.`
      return { json: { id: versionId, deleted: true }, text }
    })
}

type Draft = { organizationId: string; agentId: string; versionId: string }

/** Deletes a draft of a table, and records it. */
export function deleteDraftRecorded(
  stores: TableStores,
  options: SharedOptions,
  { organizationId, agentId, versionId }: Draft,
): Promise<void> {
  const { agents: store, executions } = stores
  const target = { kind: 'version', id: versionId, agentId } as const
  const change = { organizationId, action: 'version.delete', target } as const
  return recorded(stores, options, change, () =>
    deleteDraft({ store, executions, organizationId, idOrSlug: agentId, versionId }),
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
      .runWithAgent(
        async ({ id: agentId, slug, current }, { reference, stores, options, args: [versionId = ''] }) => {
          if (isRetiring && current?.id === versionId)
            throw new UserError(
              `Version ${versionId} is the current one of ${slug}. Promote another one first: ${formatCommand(options, `promote ${slug} <version>`)}`,
              { details: { code: 'VersionNotRetirable' } },
            )
          const retiredAt = isRetiring ? new Date(system.now()).toISOString() : null
          const { organizationId } = reference
          const action = isRetiring ? 'version.retire' : 'version.unretire'
          const target = { kind: 'version', id: versionId, agentId } as const
          const retiring = recorded(stores, options, { organizationId, action, target }, () =>
            retireVersion({ ...reference, versionId }, retiredAt),
          )
          const { version, agent } = await retiring.catch((error: unknown) => {
            throw explainError(error, { slug, versionId, options })
          })
          const text = isRetiring
            ? `Retired version ${versionId} of ${slug}. Make it usable again: ${formatCommand(options, `unretire ${slug} ${versionId}`)}`
            : `Version ${versionId} of ${slug} is usable again.`
          return { json: toVersionRecord(version, agent), text }
        },
      )
  add(
    'retire',
    'Retire a version: it accepts no new runs and cannot become current. Its runs in progress finish.',
    true,
  )
  add('unretire', 'Make a retired version usable again.', false)
}
