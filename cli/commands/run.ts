import { violationsOf } from '../../authoring/cases/find-failures.ts'
import { trackExecution } from '../../authoring/track-execution.ts'
import { type AnswerWaits, runThroughWaits } from '../../authoring/waits/run-through-waits.ts'
import { loadFolder } from '../../lib/agents/load-folder.ts'
import { type ResolvedVersion, resolveVersion } from '../../lib/agents/resolve-version.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { type Execution, isFinal } from '../../lib/core/execution.ts'
import { CANCELLED } from '../../lib/core/execution-errors.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import type { RunQueue } from '../../lib/core/ports/queues.ts'
import { AgentArchived, VersionNotFound, VersionRetired } from '../../lib/core/resource-errors.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import { buildRunRequest, type RunRequest } from '../../lib/engine/submit/run-request.ts'
import { system } from '../../lib/system.ts'
import { applyModelSettings } from '../../local/data-folder.ts'
import { askUser, tellUser, untilAborted } from '../ask-user.ts'
import { withWorkbench } from '../cases/test-cases.ts'
import type { CliCommand, Result } from '../command.ts'
import { type TableConnection, withOrganization } from '../connect.ts'
import { folderError, UserError } from '../errors.ts'
import { assertNotArchived, explainError, findAgent } from '../explain-errors.ts'
import { parseFile, readInputWithFiles } from '../input-files.ts'
import { orgOption, type SharedOptions } from '../options.ts'
import { LineReader } from '../prompt.ts'
import { addRunOptions, type RunOptions, toRunParameters } from '../run-options.ts'
import { onInterrupt, withProgress, write } from '../terminal.ts'

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

/** The sweeper of the service sends the messages. */
const SWEPT: RunQueue = { send: async () => undefined }

/**
 * Runs an execution in this process and records it, like the run function. While it waits, others decide how it goes
 * on; in a run that is not stored, the user does. Ctrl-C cancels the execution, unless others can continue it later.
 * What the agent prints goes to stderr, because stdout is for the result.
 */
async function runInProcess(
  stores: Stores,
  request: RunRequest,
  options: SharedOptions,
  isStored: boolean,
): Promise<Execution> {
  const tracked = trackExecution(stores, request.version.organizationId)
  const print = (line: string) => void write(process.stderr, `${line}\n`)
  const answers = isStored
    ? tellUser(options, print)
    : askUser({ lines: new LineReader(), print, otherwise: waitForTime })
  let isWaiting = false
  const answer: AnswerWaits = async (open, signal) => {
    isWaiting = true
    return answers.answer(open, signal).finally(() => {
      isWaiting = false
    })
  }
  const removeCleanup = onInterrupt(async () => {
    if (isStored && isWaiting) {
      const message = `Stopped waiting. Execution ${tracked.getId()} stays suspended: the service continues it when something arrives.`
      await write(process.stderr, `${message}\n`)
      return
    }
    const ending = tracked.end(CANCELLED).then(() => true)
    const isRecorded = await withProgress('Cancelling', ending).catch(() => false)
    const id = isStored ? tracked.getId() : undefined
    await write(process.stderr, `${describeCancel(id, isRecorded)}\n`)
  })
  try {
    const onLog = (text: string) => void process.stderr.write(text)
    const engine = { ...tracked.stores, queue: SWEPT, system, onLog }
    return await runThroughWaits(engine, request, { ...answers, answer })
  } catch (error) {
    if (error instanceof UserError) throw error
    const message = error instanceof Error ? error.message : String(error)
    await tracked.end({ code: 'AgentFailed', message }).catch(() => undefined)
    throw new UserError(`Execution failed: ${message}`, {
      details: { code: 'AgentFailed', executionId: tracked.getId() },
    })
  } finally {
    removeCleanup()
  }
}

/** Nobody else can reach a run that is not stored. @throws UserError */
const waitForTime: AnswerWaits = async (open, signal) => {
  const wait = open.find(({ kind }) => kind === 'approval' || kind === 'signal')
  if (!wait) return untilAborted(signal)
  throw new UserError(
    `The run waits for the ${wait.kind} ${wait.name}, and standard input is closed: nobody can answer. Use a test case, or publish the agent.`,
  )
}

function describeCancel(id: string | undefined, isRecorded: boolean): string {
  if (id === undefined) return 'Cancelled. Nothing was recorded.'
  return isRecorded
    ? `Cancelled. Execution ${id} has ended with the error Cancelled.`
    : `Stopped. Execution ${id} could not be cancelled, because the table does not respond: the service continues it.`
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
