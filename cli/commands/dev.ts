import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentWatcher } from '../../authoring/agent-watcher.ts'
import { readCases, type TestCase } from '../../authoring/cases/case-file.ts'
import { runCase } from '../../authoring/cases/run-case.ts'
import { trackExecution } from '../../authoring/track-execution.ts'
import { typeCheck } from '../../authoring/type-check.ts'
import { AgentError } from '../../clients/typescript/src/index.ts'
import {
  type FolderProblem,
  findCodeFile,
  formatProblem,
  type LoadedAgent,
} from '../../lib/agents/load-folder.ts'
import type { Version } from '../../lib/core/agent.ts'
import { CANCELLED } from '../../lib/core/execution-errors.ts'
import { decideApproval, describeDecision } from '../../lib/engine/waiting/decide-approval.ts'
import { openTools } from '../../lib/tools/open-tools.ts'
import { applyModelSettings, dataFolder, readState } from '../../local/data-folder.ts'
import { ensureDevelopmentSecret } from '../../local/development.ts'
import { loadAgent } from '../../local/load-agent.ts'
import { readServiceUrl } from '../../local/running-services.ts'
import { askUser, tellUser } from '../ask-user.ts'
import { formatResult, formatStep, formatToolResult } from '../cases/format-cases.ts'
import type { CliCommand } from '../command.ts'
import { type TableConnection, withOrganization } from '../connect.ts'
import { formatWarnings, reportError, UserError } from '../errors.ts'
import { modelOption, orgOption, type SharedOptions } from '../options.ts'
import { LineReader } from '../prompt.ts'
import { confirmDataFolder } from '../table/confirm-data-folder.ts'
import { onInterrupt, write } from '../terminal.ts'
import { publishLoaded } from './publish.ts'
import { ensureService } from './start.ts'

type Options = SharedOptions & { case?: string; model?: string; types: boolean }

export function addDevCommand(program: CliCommand): void {
  program
    .command('dev')
    .description(
      'Watch an agent: on each change, publish a draft and run a case on it. Starts the service if none runs.',
    )
    .argument('<folder>', 'folder that contains agent.md')
    .option('--case <name>', 'case of cases.yaml to run; default: the first')
    .addOption(modelOption('agent'))
    .option('--no-types', 'do not check the types of the code')
    .addOption(orgOption())
    .examples('dev agents/redact-pii')
    .run<Options>((options, [folder = '']) => develop(folder, options))
}

/** Never returns: Ctrl-C exits. */
async function develop(folder: string, options: Options): Promise<never> {
  if (options.json) throw new UserError('dev prints progress; --json cannot be used.')
  if (!existsSync(folder)) throw new UserError(`${folder} does not exist.`)
  await confirmDataFolder(options)
  await ensureService(options, print)
  if (!options.stack) await applyModelSettings()
  const watcher = new AgentWatcher(folder)
  for (;;) {
    const change = watcher.next()
    const cancel = new AbortController()
    void change.then(() => cancel.abort())
    await runCycle(folder, options, watcher, cancel.signal).catch((error) => reportError(error, false))
    if (!cancel.signal.aborted) print('Waiting for changes…\n')
    await change
  }
}

const lines = new LineReader()

const print = (text: string) => void write(process.stdout, `${text}\n`)

const printProblems = (problems: FolderProblem[]) => problems.map(formatProblem).forEach(print)

/**
 * Publishes a draft of the agent and runs the selected case on it. The types are checked meanwhile.
 * @param signal aborts when the next cycle is due
 */
async function runCycle(
  folder: string,
  options: Options,
  watcher: AgentWatcher,
  signal: AbortSignal,
): Promise<void> {
  const [{ agent, problems, warnings }, { cases, problems: caseProblems }] = await Promise.all([
    loadAgent(folder, process.env),
    readCases(folder),
  ])
  printProblems([...problems, ...caseProblems])
  formatWarnings(warnings).forEach(print)
  if (!agent) return
  watcher.add(agent.sources)
  const checking = options.types ? checkTypes(folder, agent, signal) : undefined
  const name = options.case
  // The case with the given name, otherwise the first.
  const testCase = cases.find((each) => name === undefined || each.name === name)
  if (!testCase && name !== undefined) print(`There is no case "${name}" in cases.yaml.`)
  await withOrganization(options, async (connection) => {
    const { version, isNew } = await replaceDraft(connection, folder, agent)
    print(`${version.slug}: draft ${version.id}${isNew ? '' : ' (unchanged)'}`)
    if (testCase && !signal.aborted) await runSelected(connection, version, testCase, options, signal)
  })
  await checking
}

/** Publishes a draft, and deletes the one that `dev` published before: drafts of other users stay. */
async function replaceDraft(
  connection: TableConnection,
  folder: string,
  agent: LoadedAgent,
): Promise<{ version: Version; isNew: boolean }> {
  const { client, status, stores, organization, options } = connection
  if (agent.document.remote && !options.stack)
    await ensureDevelopmentSecret(stores.webhooks, dataFolder(), organization.id)
  const { id, documentId: agentId } = await publishLoaded(connection, { folder, agent, draft: true })
  const isNew = status() === 201
  const version = await stores.agents.getVersion({ organizationId: organization.id, agentId, id })
  if (!version) throw new UserError(`The draft ${id} was deleted.`)
  // By agent. Empty if the file is missing or invalid: then the last draft stays.
  const file = join(dataFolder(), 'dev-drafts.json')
  const drafts = await readState<string>(file)
  const previous = drafts[agentId]
  if (previous === id) return { version, isNew }
  const { [agentId]: _, ...others } = drafts
  await mkdir(dataFolder(), { recursive: true, mode: 0o700 })
  await writeFile(file, JSON.stringify(isNew ? { ...others, [agentId]: id } : others))
  if (previous !== undefined) {
    // It stays if it was promoted or has runs, and may be deleted already.
    await client.deleteVersion(agentId, previous).catch((error: unknown) => {
      if (!(error instanceof AgentError) || error.cause) throw error
    })
  }
  return { version, isNew }
}

/** In the background: it takes longer than everything else, and a draft may have wrong types. */
async function checkTypes(folder: string, { document }: LoadedAgent, signal: AbortSignal): Promise<void> {
  const codeFile = findCodeFile(folder)
  if (!codeFile) return
  const problems = await typeCheck({ codeFile, document, signal }).catch((error: unknown) => {
    if (signal.aborted) return []
    throw error
  })
  if (!signal.aborted) printProblems(problems)
}

async function runSelected(
  { stores, record }: TableConnection,
  version: Version,
  testCase: TestCase,
  options: Options,
  signal: AbortSignal,
): Promise<void> {
  print(`case "${testCase.name}"`)
  const tracked = trackExecution(stores, version.organizationId)
  const cancel = () => tracked.end(CANCELLED).catch(() => undefined)
  signal.addEventListener('abort', cancel)
  const removeCleanup = onInterrupt(cancel)
  try {
    const result = await runCase({
      stores: tracked.stores,
      version,
      testCase,
      model: options.model ?? null,
      environment: { ...(await callbackUrlOf(options)), ...process.env },
      sources: { openTools: openPrintingTools },
      onLog: (text) => void process.stderr.write(text),
      onStep: (execution, step) => print(formatStep(execution, step)),
      answers: {
        ...askUser({ lines, print, otherwise: tellUser(options, print).answer }),
        decide: (engine, given) => record(describeDecision(given), () => decideApproval(engine, given)),
      },
    })
    if (!signal.aborted) print(formatResult(result))
  } finally {
    signal.removeEventListener('abort', cancel)
    removeCleanup()
  }
}

/** The running service receives callbacks of remote agents. */
const callbackUrlOf = async ({ stack }: Options): Promise<{ PUBLIC_URL?: string }> => {
  const url = stack ? '' : await readServiceUrl(dataFolder())
  return url ? { PUBLIC_URL: url } : {}
}

const openPrintingTools: typeof openTools = async (...params) => {
  const tools = await openTools(...params)
  return {
    ...tools,
    async call(call, options) {
      const result = await tools.call(call, options)
      print(formatToolResult(call, result))
      return result
    },
  }
}
