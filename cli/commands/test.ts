import { writeFile } from 'node:fs/promises'
import { InvalidArgumentError, Option } from 'commander'
import type { TestCase } from '../../authoring/cases/case-file.ts'
import { checkFolder } from '../../authoring/check-folder.ts'
import { applyModelSettings } from '../../local/data-folder.ts'
import { formatReport } from '../cases/format-cases.ts'
import { formatHtmlReport } from '../cases/html-report.ts'
import { formatMatrix, hasFailures, isReport } from '../cases/model-matrix.ts'
import { testModels } from '../cases/test-cases.ts'
import type { CliCommand } from '../command.ts'
import { folderError, formatWarnings, UserError } from '../errors.ts'
import { modelOption, parseList, type SharedOptions } from '../options.ts'
import { withProgress } from '../terminal.ts'

type Options = {
  case: string[]
  repeat: number
  model?: string
  models?: string[]
  report?: string
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
      new Option('--models <list>', 'compare these models, separated by commas')
        .argParser(parseList)
        .conflicts(['model', 'record', 'replay']),
    )
    .option('--report <file>', 'write the results as a page of HTML')
    .addOption(
      new Option('--record', 'store what models and tools return, for --replay').conflicts([
        'replay',
        'repeat',
      ]),
    )
    .option('--replay', 'use what was recorded: no model, network or API key is needed')
    .option('--no-types', 'do not check the types of the code')
    .examples('test agents/redact-pii --report report.html', 'test agents/triage-ticket --replay')
    .run<Options & SharedOptions>(async (options, [folder = '']) => {
      const { agent, cases, problems } = await checkFolder(folder, { types: options.types })
      if (!agent) throw folderError('Test', problems)
      if (cases.length === 0) throw new UserError(`${folder} has no cases. Write some into cases.yaml.`)
      const selected = selectCases(cases, options.case)
      const { report } = options
      // Before anything is paid.
      if (report !== undefined) await writeReport(report, '')
      const rows = await testModels(folder, agent, options.models ?? [options.model ?? null], {
        mode: options.record ? 'record' : options.replay ? 'replay' : 'live',
        repeat: options.repeat,
        shared: options,
        cases,
        selected,
      })
      const tested = { ...agent.document, finishedAt: new Date(), cases: selected }
      if (report !== undefined) await writeReport(report, formatHtmlReport(tested, rows))
      const [first] = rows
      const isMatrix = options.models || !first || !isReport(first)
      return {
        json: isMatrix ? { models: rows } : first,
        text: isMatrix ? formatMatrix(rows) : formatReport(first),
        ...(report !== undefined && { note: `Wrote ${report}.` }),
        hasFailed: hasFailures(rows),
      }
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

/** @throws UserError */
const writeReport = (file: string, text: string) =>
  writeFile(file, text).catch((error: Error) => {
    throw new UserError(`Cannot write ${file}: ${error.message}`)
  })
