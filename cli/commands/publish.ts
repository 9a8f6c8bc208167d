import { join } from 'node:path'
import { CASES_FILE, type TestCase } from '../../authoring/cases/case-file.ts'
import { checkFolder } from '../../authoring/check-folder.ts'
import { toPublished } from '../../lib/access/audit-log.ts'
import { START } from '../../lib/agents/document/yaml-file.ts'
import { requiresTrial } from '../../lib/agents/lifecycle/gate.ts'
import { digestOf, publishAgent } from '../../lib/agents/lifecycle/publish-agent.ts'
import type { LoadedAgent } from '../../lib/agents/load-folder.ts'
import { DOCUMENT_FILE, type Version } from '../../lib/core/agent.ts'
import { agentIdOf } from '../../lib/core/ids.ts'
import { findCostWarnings } from '../../lib/engine/submit/limited-models.ts'
import { system } from '../../lib/system.ts'
import { applyModelSettings } from '../../local/data-folder.ts'
import { DEVELOPMENT_ORGANIZATION, operatorId } from '../../local/development.ts'
import { notePublication } from '../../local/publications.ts'
import type { CliCommand } from '../command.ts'
import { folderError, formatWarnings, UserError } from '../errors.ts'
import { explainError, stepsToRelease, withOrganization } from '../find.ts'
import { describeTarget, formatCommand, shellQuote } from '../format.ts'
import { formatReport } from '../format-cases.ts'
import { orgOption, parseMessage, type SharedOptions } from '../options.ts'
import { recorded } from '../recorded.ts'
import {
  getRemote,
  isLocalService,
  publishOverHttp,
  type Remote,
  type RemoteOptions,
  tokenOption,
  urlOption,
} from '../remote.ts'
import type { TableStores } from '../stores.ts'
import { withProgress } from '../terminal.ts'
import { testCases } from './test.ts'

type Options = RemoteOptions & {
  draft?: true
  types: boolean
  test?: true
  replay?: true
  message?: string
}

export function addPublishCommand(program: CliCommand): void {
  program
    .command('publish')
    .description('Validate an agent and publish it as its current version.')
    .argument('<folder>', 'folder that contains agent.md')
    .option('--draft', 'create a draft, which runs only when a request names its version ID')
    .option('--no-types', 'do not check the types of the code')
    .option('--test', 'publish only if all cases of cases.yaml pass')
    .option('--replay', 'with --test, use what was recorded: no model is needed')
    .option('--message <text>', 'what changes with this version', parseMessage)
    .addOption(urlOption('publish over HTTP to'))
    .addOption(tokenOption('manage'))
    .addOption(orgOption())
    .examples(
      'publish agents/redact-pii --test',
      'publish agents/redact-pii --draft --message "Finds passport numbers"',
      'publish agents/redact-pii --url https://agents.example.com --token aes_…',
    )
    .run<Options>(async (options, [folder = '']) => {
      const remote = getRemote(options)
      const { agent, cases, warnings: found } = await check(folder, options)
      if (options.test) await assertCasesPass(folder, agent, cases, options)
      const { slug } = agent.document
      const published = await withProgress(`Publishing ${slug}`, publish(folder, agent, options, remote))
      const { version } = published
      const { agentId, id: versionId, status } = version
      const at = { file: join(folder, DOCUMENT_FILE), ...START, field: 'model' }
      const warnings = [...found, ...published.warnings.map((message) => ({ ...at, message }))]
      return {
        json: { agentId, versionId, slug, status, ...(warnings.length > 0 && { warnings }) },
        note: formatWarnings(warnings).join('\n'),
        text: describeVersion({ ...published, ...version, slug }, options, folder),
      }
    })
}

type PublishedVersion = Pick<Version, 'id' | 'agentId' | 'status'>

/** `needsTrial`: before it becomes current. `warnings`: of the service. */
type Publication = { version: PublishedVersion; isNew: boolean; needsTrial: boolean; warnings: string[] }

async function publish(
  folder: string,
  agent: LoadedAgent,
  options: Options & SharedOptions,
  remote: Remote | null,
): Promise<Publication> {
  const { draft = false, message } = options
  if (remote) {
    const { version, isNew } = await publishOverHttp(remote, agent, { draft, message })
    const { documentId: agentId, warnings = [] } = version
    if (await isLocalService(remote.url)) await note(folder, agent, agentId)
    return { version: { ...version, agentId }, isNew, needsTrial: false, warnings }
  }
  return withOrganization(options, async (stores, { id: organizationId }) => {
    const { slug } = agent.document
    const publishing = publishRecorded(stores, options, {
      ...{ organizationId, folder, agent, draft, message },
    })
    const published = await publishing.catch((error: unknown) => {
      throw explainError(error, { slug, options })
    })
    const { agentId: id } = published.version
    const current = draft ? ((await stores.agents.get({ organizationId, id }))?.current ?? null) : null
    // The prices of a stack are not known here.
    const { version } = published
    const warnings = options.stack ? [] : await findCostWarnings(stores, { organizationId, version })
    return { ...published, needsTrial: requiresTrial(current), warnings }
  })
}

type Publishing = {
  organizationId: string
  folder: string
  agent: LoadedAgent
  draft: boolean
  message?: string | undefined
}

/** What the next start of the service must not publish again. That of another organization has another `agentId`. */
async function note(folder: string, agent: LoadedAgent, agentId: string): Promise<void> {
  const { slug } = agent.document
  if (agentId !== agentIdOf(DEVELOPMENT_ORGANIZATION.id, slug)) return
  await notePublication(folder, { slug, digest: digestOf(agent) })
}

/** Publishes an agent on a table, and records it. */
export async function publishRecorded(stores: TableStores, options: SharedOptions, publishing: Publishing) {
  const { organizationId, folder, agent, draft } = publishing
  const { slug } = agent.document
  const change = {
    ...{ organizationId, action: 'agent.publish' as const, changes: { slug, draft } },
    target: { kind: 'agent' as const, id: agentIdOf(organizationId, slug) },
  }
  const published = await recorded(stores, options, change, async (show) => {
    const params = { store: stores.agents, system, createdBy: operatorId() }
    const result = await publishAgent({ ...params, ...publishing })
    show(toPublished(result))
    return result
  })
  if (!options.stack) await note(folder, agent, published.version.agentId)
  return published
}

/** @throws UserError with one line per problem */
async function check(folder: string, { types, test, replay, stack, url }: Options & SharedOptions) {
  if (replay && !test) throw new UserError('--replay needs --test.')
  const runsHere = !stack && url === undefined
  if (runsHere) await applyModelSettings()
  const result = await withProgress(`Checking ${folder}`, checkFolder(folder, { types }))
  if (!result.agent) throw folderError('Publish', result.problems)
  // What the environment of another machine lacks is not known here.
  return runsHere ? result : { ...result, warnings: result.warnings.filter(({ field }) => field === null) }
}

/** @throws UserError with what the failing cases did differently */
async function assertCasesPass(
  folder: string,
  agent: LoadedAgent,
  cases: TestCase[],
  { replay }: Options,
): Promise<void> {
  if (cases.length === 0) throw new UserError(`Publish failed: ${folder} has no cases in ${CASES_FILE}.`)
  const mode = replay ? 'replay' : 'live'
  const report = await testCases(folder, agent, cases, { mode, selected: cases, repeat: 1, model: null })
  if (report.failed === 0) return
  throw new UserError('Publish failed: not all cases pass.', {
    details: report,
    lines: formatReport(report).split('\n'),
  })
}

function describeVersion(
  version: PublishedVersion & Omit<Publication, 'version'> & { slug: string },
  options: Options & SharedOptions,
  folder: string,
): string {
  const { slug, id, agentId, status, isNew, needsTrial } = version
  const ids = [`  version  ${id}`, `  agent    ${agentId}`]
  const unchanged = 'A version with this content existed; nothing new was created.'
  const overHttp = `Over HTTP:  POST /v1/agents/${slug}/executions`
  const command = (text: string) => formatCommand(options, text)
  const isRemote = options.url !== undefined
  const target = describeTarget(options)
  if (status === 'DRAFT') {
    const title = isNew
      ? `Created a draft of ${slug} in ${target}.`
      : `The draft of ${slug} in ${target} is unchanged. ${unchanged}`
    const [attempt, promotion] = stepsToRelease(slug)
    const commands = [
      `Run it:      ${command(`run ${slug} --version ${id} --input input.json`)}`,
      ...(needsTrial
        ? [`Try it:      ${command(attempt)}`, `Promote it:  ${command(promotion)}`]
        : [
            `Promote it:  ${command(`promote ${slug}`)}`,
            `Publish it:  ${command(`publish ${shellQuote(folder)}`)}`,
          ]),
    ]
    return [title, ...ids, '', ...(isRemote ? [`${overHttp}?version=${id}`] : commands)].join('\n')
  }
  if (options.draft) {
    const title = `The rollout of ${slug} has this content. ${unchanged}`
    return [title, ...ids, '', `Promote it:  ${command(`promote ${slug} ${id}`)}`].join('\n')
  }
  const title = `Published ${slug} to ${target}.${isNew ? '' : ` ${unchanged}`}`
  const run = isRemote ? [] : [`Run it:     ${command(`run ${slug} --input input.json`)}`]
  return [title, ...ids, '', ...run, overHttp].join('\n')
}
