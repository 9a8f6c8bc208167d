import { InvalidArgumentError, Option } from 'commander'
import type { TestCase } from '../../authoring/cases/case-file.ts'
import { type Mode, type RunCasesParams, runCases } from '../../authoring/cases/run-cases.ts'
import { checkFolder } from '../../authoring/check-folder.ts'
import { InvalidCallee, openWorkbench } from '../../authoring/workbench.ts'
import type { LoadedAgent } from '../../lib/agents/load-folder.ts'
import type { Version } from '../../lib/core/agent.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import { applyModelSettings } from '../../local/data-folder.ts'
import { findModelProblem } from '../../local/load-agent.ts'
import type { CliCommand } from '../command.ts'
import { calleeError, folderError, formatWarnings, UserError } from '../errors.ts'
import { type CaseReport, formatReport, toReport } from '../format-cases.ts'
import { modelOption } from '../options.ts'
import { useAndClose, withProgress } from '../terminal.ts'

type Options = {
  case: string[]
  repeat: number
  model?: string
  record?: true
  replay?: true
  types: boolean
}

const MAX_REPEATS = 1_000

export function addCheckCommand(program: CliCommand): void {
  program
    .command('check')
    .description('Check an agent like publish, with the types of its code and its test cases.')
    .argument('<folder>', 'folder that contains agent.md')
    .option('--no-types', 'do not check the types of the code')
    .examples('check agents/redact-pii')
    .run<Pick<Options, 'types'>>(async ({ types }, [folder = '']) => {
      await applyModelSettings()
      const checking = checkFolder(folder, { types })
      const { agent, cases, problems, warnings } = await withProgress(`Checking ${folder}`, checking)
      if (!agent) throw folderError('Check', problems)
      const { slug } = agent.document
      const count = cases.length === 1 ? '1 test case' : `${cases.length} test cases`
      const text = `${slug} is valid${cases.length > 0 ? `, with ${count}` : ''}.`
      const note = formatWarnings(warnings).join('\n')
      return { json: { slug, cases: cases.map(({ name }) => name), problems: [], warnings }, text, note }
    })
}

export function addTestCommand(program: CliCommand): void {
  program
    .command('test')
    .description('Run the cases of cases.yaml in parallel, without publishing the agent.')
    .argument('<folder>', 'folder that contains agent.md')
    .option(
      '--case <name>',
      'run only this case; can be repeated',
      (name, names: string[]) => [...names, name],
      [],
    )
    .option('--repeat <number>', 'how often each case runs', parseRepeat, 1)
    .addOption(modelOption('agent'))
    .addOption(
      new Option('--record', 'store what models and tools return, for --replay').conflicts([
        'replay',
        'repeat',
      ]),
    )
    .option('--replay', 'use what was recorded: no model, network or API key is needed')
    .option('--no-types', 'do not check the types of the code')
    .examples('test agents/redact-pii', 'test agents/triage-ticket --replay')
    .run<Options>(async (options, [folder = '']) => {
      const { agent, cases, problems } = await checkFolder(folder, { types: options.types })
      if (!agent) throw folderError('Test', problems)
      if (cases.length === 0) throw new UserError(`${folder} has no cases. Write some into cases.yaml.`)
      const report = await testCases(folder, agent, cases, {
        mode: options.record ? 'record' : options.replay ? 'replay' : 'live',
        selected: selectCases(cases, options.case),
        repeat: options.repeat,
        model: options.model ?? null,
      })
      return { json: report, text: formatReport(report), hasFailed: report.failed > 0 }
    })
}

function parseRepeat(text: string): number {
  const number = Number(text)
  if (/^[1-9]\d*$/.test(text) && number <= MAX_REPEATS) return number
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_REPEATS}.`)
}

/** @throws UserError for unknown names */
function selectCases(cases: TestCase[], names: string[]): TestCase[] {
  const known = cases.map(({ name }) => name)
  const unknown = names.find((name) => !known.includes(name))
  if (unknown === undefined)
    return names.length === 0 ? cases : cases.filter(({ name }) => names.includes(name))
  throw new UserError(
    `There is no case "${unknown}". The cases are: ${known.map((name) => `"${name}"`).join(', ')}.`,
  )
}

/**
 * Runs the selected cases of an agent on a table in memory.
 * @throws UserError for a model that cannot be used
 */
export async function testCases(
  folder: string,
  agent: LoadedAgent,
  cases: TestCase[],
  options: Pick<RunCasesParams, 'mode' | 'selected' | 'repeat' | 'model'>,
): Promise<CaseReport> {
  const { mode, selected, model } = options
  if (mode !== 'replay') await applyModelSettings()
  if (model !== null) assertUsable(model, agent, mode)
  const running = withWorkbench(folder, agent, (stores, version) =>
    runCases({ folder, stores, version, cases, environment: process.env, ...options }),
  )
  return toReport(
    await withProgress(`Running ${selected.length === 1 ? '1 case' : `${selected.length} cases`}`, running),
  )
}

/**
 * Opens a table in memory with an agent for `work`.
 * @throws UserError if an agent that it calls as a tool has problems
 */
export async function withWorkbench<T>(
  folder: string,
  agent: LoadedAgent,
  work: (stores: Stores, version: Version) => Promise<T>,
): Promise<T> {
  try {
    return await useAndClose(openWorkbench(folder, agent), ({ stores, version }) => work(stores, version))
  } catch (error) {
    throw error instanceof InvalidCallee ? calleeError(error.slug, error.problems) : error
  }
}

function assertUsable(model: string, { document }: LoadedAgent, mode: Mode): void {
  const kind = document.remote ? 'remote' : 'code'
  if (document.code || document.remote)
    throw new UserError(`The agent ${document.slug} is a ${kind} agent; it does not accept a model.`)
  const problem = mode === 'replay' ? null : findModelProblem(model, process.env)
  if (problem !== null) throw new UserError(problem)
}
