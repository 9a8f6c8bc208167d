import { join } from 'node:path'
import { CASES_FILE } from '../../authoring/cases/case-file.ts'
import { checkFolder } from '../../authoring/check-folder.ts'
import { AgentError, type Version } from '../../clients/typescript/src/index.ts'
import { START } from '../../lib/agents/document/yaml-file.ts'
import { digestOf } from '../../lib/agents/lifecycle/publish-agent.ts'
import type { LoadedAgent } from '../../lib/agents/load-folder.ts'
import { DOCUMENT_FILE } from '../../lib/core/agent.ts'
import { agentIdOf } from '../../lib/core/ids.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { findSchemaWarnings } from '../../lib/schema/openapi.ts'
import { applyModelSettings } from '../../local/data-folder.ts'
import { DEVELOPMENT_ORGANIZATION } from '../../local/development.ts'
import { notePublication } from '../../local/publications.ts'
import { formatReport } from '../cases/format-cases.ts'
import { hasFailures, isReport } from '../cases/model-matrix.ts'
import { testModels } from '../cases/test-cases.ts'
import type { CliCommand } from '../command.ts'
import { type Connection, withConnection } from '../connect.ts'
import { folderError, formatWarnings, UserError } from '../errors.ts'
import { explainFor, stepsToRelease } from '../explain-errors.ts'
import { describeTarget, formatCommand, shellQuote } from '../format.ts'
import { orgOption, parseMessage, type SharedOptions } from '../options.ts'
import { explainFailure, getRemote, isLocalService } from '../service.ts'
import { withProgress } from '../terminal.ts'

type Options = SharedOptions & {
  draft?: boolean
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
    .overHttp('manage')
    .addOption(orgOption())
    .examples(
      'publish agents/redact-pii --test',
      'publish agents/redact-pii --draft --message "Finds passport numbers"',
      'publish agents/redact-pii --url https://agents.example.com --token aes_…',
    )
    .run<Options>(async (options, [folder = '']) => {
      getRemote(options)
      const checked = await check(folder, options)
      if (options.test) await assertCasesPass(folder, checked, options)
      const { agent, warnings: found } = checked
      const { slug } = agent.document
      const publishing = withConnection(options, 'publish the agent', (connection) =>
        publish(connection, folder, agent, options),
      )
      const published = await withProgress(`Publishing ${slug}`, publishing)
      const { id: versionId, documentId: agentId, status } = published.version
      const at = { file: join(folder, DOCUMENT_FILE), ...START, field: 'model' }
      const warnings = [...found, ...published.warnings.map((message) => ({ ...at, message }))]
      return {
        json: { agentId, versionId, slug, status, ...(warnings.length > 0 && { warnings }) },
        note: formatWarnings(warnings).join('\n'),
        text: describeVersion(published, folder, options),
      }
    })
}

/** `needsTrial`: before it becomes current. `warnings`: of the service. */
type Publication = { slug: string; version: Version; isNew: boolean; needsTrial: boolean; warnings: string[] }

async function publish(
  connection: Connection,
  folder: string,
  agent: LoadedAgent,
  { draft = false, message, url, stack }: Options,
): Promise<Publication> {
  const { client, organization, status } = connection
  const publishing = publishLoaded(connection, { folder, agent, draft, message })
  const version = await (url === undefined ? publishing : publishing.catch(explainRefusal(url)))
  // The prices of a stack are not known here.
  const warnings = stack ? findSchemaWarnings(version as unknown as Schemas) : (version.warnings ?? [])
  const published = { slug: agent.document.slug, version, isNew: status() === 201, warnings }
  if (!draft || !organization) return { ...published, needsTrial: false }
  const { currentVersionId } = await client.agent(version.documentId)
  const current = currentVersionId && (await client.version(version.documentId, currentVersionId))
  const needsTrial = current ? current.execution.promotion?.require === 'trial' : false
  return { ...published, needsTrial }
}

type Schemas = { inputSchema: JsonObject; outputSchema: JsonObject }

type Publishing = {
  folder: string
  agent: LoadedAgent
  draft: boolean
  message?: string | undefined
}

/** Longer than the service may take to check and store the largest agent. */
const PUBLISH_TIMEOUT_MS = 60_000

/** Publishes an agent, and notes what the next start of the service must not publish again. */
export async function publishLoaded(
  { client, options }: Connection,
  { folder, agent, draft, message }: Publishing,
): Promise<Version> {
  const { text: document, code } = agent
  const { slug } = agent.document
  const request = { document, slug, code, draft, message }
  const publishing = client.publish(request, { timeoutMs: PUBLISH_TIMEOUT_MS })
  const version = await publishing.catch(explainFor({ slug, options }))
  const isLocal = options.url === undefined ? !options.stack : await isLocalService(options.url)
  // Another organization has another agent.
  if (isLocal && version.documentId === agentIdOf(DEVELOPMENT_ORGANIZATION.id, slug))
    await notePublication(folder, { slug, digest: digestOf(agent) })
  return version
}

/** For `catch`. */
const explainRefusal =
  (url: string) =>
  (error: unknown): never => {
    if (!(error instanceof AgentError)) throw error
    const { code, status, detail, cause } = error
    const endpoint = `${url.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/agents`
    if (status === 0 && cause instanceof Error)
      throw new UserError(`Cannot reach ${endpoint}: ${explainFailure(endpoint, cause)}`)
    const problems = 'errors' in error ? (error.errors ?? []) : []
    throw new UserError(`Publish failed: ${status} ${code} ${detail}`, {
      details: { code, status, ...(problems.length > 0 && { problems }) },
      lines: problems.map((problem) => problem.message),
    })
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
  { agent, cases }: Awaited<ReturnType<typeof check>>,
  shared: Options,
): Promise<void> {
  if (cases.length === 0) throw new UserError(`Publish failed: ${folder} has no cases in ${CASES_FILE}.`)
  const mode = shared.replay ? 'replay' : 'live'
  const rows = await testModels(folder, agent, [null], { mode, cases, selected: cases, repeat: 1, shared })
  const [report] = rows.filter(isReport)
  if (!report || !hasFailures(rows)) return
  throw new UserError('Publish failed: not all cases pass.', {
    details: report,
    lines: formatReport(report).split('\n'),
  })
}

function describeVersion(publication: Publication, folder: string, options: Options): string {
  const { slug, version, isNew, needsTrial } = publication
  const { id, documentId, status } = version
  const ids = [`  version  ${id}`, `  agent    ${documentId}`]
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
