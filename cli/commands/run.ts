import { violationsOf } from '../../authoring/cases/find-failures.ts'
import { loadFolder } from '../../lib/agents/load-folder.ts'
import { type ResolvedVersion, resolveVersion } from '../../lib/agents/resolve-version.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { type Execution, isFinal } from '../../lib/core/execution.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { AgentArchived, VersionNotFound, VersionRetired } from '../../lib/core/resource-errors.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import { buildRunRequest, type RunRequest } from '../../lib/engine/submit/run-request.ts'
import { system } from '../../lib/system.ts'
import { applyModelSettings } from '../../local/data-folder.ts'
import { withWorkbench } from '../cases/test-cases.ts'
import type { CliCommand, Result } from '../command.ts'
import { type TableConnection, withOrganization } from '../connect.ts'
import { folderError, UserError } from '../errors.ts'
import { assertNotArchived, explainError, findAgent } from '../explain-errors.ts'
import { parseFile, readInputWithFiles } from '../input-files.ts'
import { orgOption, type SharedOptions } from '../options.ts'
import { runInProcess } from '../run-in-process.ts'
import { addRunOptions, type RunOptions, toRunParameters } from '../run-options.ts'
import { withProgress } from '../terminal.ts'

type Options = RunOptions & { input?: string; file?: [field: string, path: string][] }

export function addRunCommand(program: CliCommand): void {
  const command: CliCommand = program.command('run')
  addRunOptions(
    command
      .description('Run an agent in this process, record the execution, and print the output.')
      .argument('<slug>', "the agent's slug or ID, or a folder to run without publishing it")
      .option('--input <file>', 'file that contains the input as a JSON object, or - for standard input')
      .option(
        '--file <field=path>',
        'image or PDF as a field of the input; again for a list of them',
        parseFile,
      ),
  )
    .addOption(orgOption())
    .examples(
      'run redact-pii --input input.json',
      'run agents/redact-pii --input input.json',
      'run read-invoice --file invoice=invoice.pdf',
      `run redact-pii --input - <<< '{"content": "ada@example.com"}'`,
    )
    .run<Options>(async (options, [idOrSlug = '']) => {
      if (!options.input && !options.file)
        command.error("error: required option '--input <file>' not specified")
      const input = await readInputWithFiles(options)
      if (!options.stack) await applyModelSettings()
      if (isFolder(idOrSlug)) return runFolder(idOrSlug, input, options)
      return withOrganization(options, async (connection) => {
        const newId = system.newId()
        const found = await findVersion(connection, idOrSlug, options, newId)
        const { version } = found
        const { id, output } = await run(connection.stores, { ...found, newId }, input, options, true)
        const note = `execution ${id}, version ${version.id}`
        return { json: output, text: JSON.stringify(output, null, 2), note }
      })
    })
}

/**
 * The version given with `--version` (published or draft), by default the one that a run gets.
 * @throws UserError that tells how to list the versions, run the draft or restore an archived agent
 */
async function findVersion(
  connection: TableConnection,
  idOrSlug: string,
  options: Options & SharedOptions,
  executionId: string,
): Promise<Pick<ResolvedVersion, 'version' | 'selectedBy'>> {
  const { version: versionId, tenant: tenantId = null } = options
  try {
    const reference = {
      store: connection.stores.agents,
      organizationId: connection.organization.id,
      idOrSlug,
    }
    const found = await resolveVersion({ ...reference, versionId, run: { tenantId, executionId } })
    if (found.isArchived) throw new AgentArchived()
    if (found.isRetired) throw new VersionRetired('run')
    return found
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error
    // Only an explanation costs a second read of the agent.
    const agent = await findAgent(connection, idOrSlug)
    assertNotArchived(agent, options)
    const { slug, draftVersionId, currentVersionId } = agent
    if (versionId || !(error instanceof VersionNotFound))
      throw explainError(error, { slug, versionId: versionId ?? currentVersionId ?? '', options })
    throw new UserError(
      `Agent ${slug} has no published version. Run the draft with --version ${draftVersionId}, or publish the agent.`,
      { details: { code: error.code } },
    )
  }
}

/** Slugs and ids contain neither dots nor slashes. */
const isFolder = (argument: string): boolean => /[./\\]/.test(argument)

/** Options about what is stored, which a run without publishing is not. */
const STORED = ['version', 'stack', 'org', 'cache'] as const

/** Runs an agent that is not published. Nothing is recorded. @throws UserError */
async function runFolder(
  folder: string,
  input: JsonObject,
  options: Options & SharedOptions,
): Promise<Result> {
  const option = STORED.find((name) => options[name])
  if (option)
    throw new UserError(`--${option} cannot be used with a folder: it runs without being published.`)
  const { agent, problems } = await withProgress(`Bundling ${folder}`, loadFolder(folder))
  if (!agent) throw folderError('Run', problems)
  return withWorkbench(folder, agent, async (stores, version) => {
    const { output } = await run(stores, { version }, input, options, false)
    return { json: output, text: JSON.stringify(output, null, 2) }
  })
}

/** @throws UserError if the run fails or does not end */
async function run(
  stores: Stores,
  { version, selectedBy, newId }: Pick<RunRequest, 'version' | 'selectedBy' | 'newId'>,
  input: JsonObject,
  options: Options & SharedOptions,
  isStored: boolean,
) {
  const overrides = { ...toRunParameters(options), tenantId: options.tenant }
  const request = { ...(await buildRunRequest(version, input, overrides)), selectedBy, newId }
  const execution = await withProgress(
    `Running ${version.slug}`,
    runInProcess(stores, request, options, isStored),
  )
  return { id: execution.id, output: outputOf(execution) }
}

/** @throws UserError with the execution's error */
function outputOf(execution: Execution): Execution['output'] {
  const { id: executionId, status, error } = execution
  if (status === 'SUCCESS') return execution.output
  if (!isFinal(execution)) {
    throw new UserError(`Execution ${executionId} has not ended: it continues in another worker.`, {
      details: { executionId },
    })
  }
  const { code, message, errors, ...rest } = error ?? { code: 'Unknown', message: 'no error recorded' }
  const hasProblems = Array.isArray(errors) && errors.length > 0
  throw new UserError(`Execution failed with ${code}: ${message} (execution ${executionId})`, {
    details: { code, executionId, ...(hasProblems && { problems: errors }), ...rest },
    lines: error ? violationsOf(error).map((violation) => violation.message) : [],
  })
}
