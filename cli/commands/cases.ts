import { join } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { caseOfExecution, NoCase, type Recorded } from '../../authoring/cases/add-case.ts'
import { CASES_FILE, type TestCase } from '../../authoring/cases/case-file.ts'
import { findFailedCalls } from '../../authoring/cases/find-failures.ts'
import { findRecordedAnswers } from '../../authoring/cases/recorded-answers.ts'
import type { Execution } from '../../lib/core/execution.ts'
import { CasesFile } from '../cases/cases-file.ts'
import type { CliCommand } from '../command.ts'
import { withOrganization } from '../connect.ts'
import { UserError } from '../errors.ts'
import { formatCommand, shellQuote } from '../format.ts'
import { orgOption, parseUuid, type SharedOptions } from '../options.ts'
import { addCorrectedCases } from './corrected-cases.ts'
import { addImportCommand } from './import-cases.ts'

type Options = { folder?: string; name?: string; corrected?: true; last: number; yes?: true }

const MAX_LAST = 1_000

export function addCasesCommands(program: CliCommand): void {
  const cases = program.command('cases').description('Manage the test cases of an agent.')
  addImportCommand(cases)
  const command = cases
    .command('add')
    .description(
      'Add a case with the input of an execution, and its corrected output, output or error; or cases of corrected executions with recordings of models and tools.',
    )
    .argument(
      '[target]',
      'a final execution; with --corrected, the slug or ID of an agent. Default: all that have a folder in agents',
    )
    .option('--corrected', 'add corrected executions, with what they received from models and tools')
    .option('--last <number>', 'with --corrected: so many of the newest of an agent', parseLast, 50)
    .option('--yes', 'with --corrected: do not ask before values of executions are written')
    .option('--folder <path>', 'folder of the agent; default: agents/<slug>')
    .option(
      '--name <text>',
      'name of the case; default: the note of the feedback, or the ID of the execution',
    )
    .addOption(orgOption())
    .examples(
      'cases add 01a2003b-8f87-750a-aa33-59d20cae9811',
      'cases add triage-ticket --corrected --last 50',
    )
    .run<Options>(async (options, [target]) => {
      if (options.corrected) {
        if (options.name !== undefined)
          throw command.error("error: option '--corrected' cannot be used with option '--name <text>'")
        return addCorrectedCases(target, options)
      }
      const id = readExecutionId(command, target)
      const { slug, execution, ...recorded } = await findExecution(id, options)
      const folder = options.folder ?? join('agents', slug)
      const testCase = toCase(execution, recorded, options.name)
      await add(folder, testCase)
      const test = formatCommand({}, `test ${shellQuote(folder)} --case ${shellQuote(testCase.name)}`)
      const text = `Added the case "${testCase.name}" to ${join(folder, CASES_FILE)}.\n\nRun it:  ${test}`
      return { json: { folder, ...testCase }, text }
    })
}

function parseLast(text: string): number {
  const number = Number(text)
  if (/^[1-9]\d*$/.test(text) && number <= MAX_LAST) return number
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_LAST}.`)
}

/** @throws CommanderError, after printing it */
function readExecutionId(command: CliCommand, target: string | undefined): string {
  if (target === undefined) throw command.error("error: missing required argument 'target'")
  try {
    return parseUuid(target)
  } catch (error) {
    const { message } = error as InvalidArgumentError
    throw command.error(
      `error: command-argument value '${target}' is invalid for argument 'target'. ${message}`,
    )
  }
}

/** @throws UserError if it does not exist */
function findExecution(id: string, options: SharedOptions) {
  return withOrganization(options, async ({ stores, organization }) => {
    const execution = await stores.executions.get({ organizationId: organization.id, id })
    if (!execution) throw new UserError(`Execution ${id} not found in organization ${organization.name}.`)
    // Not its version: `dev` deletes drafts that it replaces.
    const agent = await stores.agents.get({ organizationId: organization.id, id: execution.agentId })
    if (!agent) throw new UserError(`The agent of execution ${id} was deleted.`)
    const [failedCalls, answers] = await Promise.all([
      findFailedCalls(stores.steps, id),
      findRecordedAnswers(stores.steps, id),
    ])
    return { slug: agent.slug, execution, failedCalls, answers }
  })
}

/** @throws UserError */
function toCase(execution: Execution, recorded: Recorded, name: string | undefined): TestCase {
  try {
    return caseOfExecution(execution, recorded, name)
  } catch (error) {
    throw error instanceof NoCase ? new UserError(`The execution ${error.message}.`) : error
  }
}

/** @throws UserError if the file is invalid, or has a case with this name */
async function add(folder: string, testCase: TestCase): Promise<void> {
  const file = await CasesFile.open(folder)
  await file.append([testCase])
}
