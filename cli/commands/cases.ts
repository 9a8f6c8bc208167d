import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { appendCase, caseOfExecution, NoCase, type Recorded } from '../../authoring/cases/add-case.ts'
import { CASES_FILE, parseCases, type TestCase } from '../../authoring/cases/case-file.ts'
import { findFailedCalls } from '../../authoring/cases/find-failures.ts'
import { findRecordedAnswers } from '../../authoring/cases/recorded-answers.ts'
import type { Execution } from '../../lib/core/execution.ts'
import type { CliCommand } from '../command.ts'
import { folderError, UserError } from '../errors.ts'
import { withOrganization } from '../find.ts'
import { formatCommand, shellQuote } from '../format.ts'
import { orgOption, parseUuid, type SharedOptions } from '../options.ts'

type Options = { folder?: string; name?: string }

export function addCasesCommands(program: CliCommand): void {
  const cases = program.command('cases').description('Manage the test cases of an agent.')
  cases
    .command('add')
    .description('Add a case with the input of an execution, and its corrected output, output or error.')
    .argument('<executionId>', 'a final execution', parseUuid)
    .option('--folder <path>', 'folder of the agent; default: agents/<slug>')
    .option(
      '--name <text>',
      'name of the case; default: the note of the feedback, or the ID of the execution',
    )
    .addOption(orgOption())
    .examples('cases add 01a2003b-8f87-750a-aa33-59d20cae9811')
    .run<Options>(async (options, [id = '']) => {
      const { slug, execution, ...recorded } = await findExecution(id, options)
      const folder = options.folder ?? join('agents', slug)
      const testCase = toCase(execution, recorded, options.name)
      await add(folder, testCase)
      const test = formatCommand({}, `test ${shellQuote(folder)} --case ${shellQuote(testCase.name)}`)
      const text = `Added the case "${testCase.name}" to ${join(folder, CASES_FILE)}.\n\nRun it:  ${test}`
      return { json: { folder, ...testCase }, text }
    })
}

/** @throws UserError if it does not exist */
function findExecution(id: string, options: SharedOptions) {
  return withOrganization(options, async (stores, organization) => {
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
  if (!existsSync(folder))
    throw new UserError(`${folder} does not exist. Specify the agent's folder with --folder.`)
  const file = join(folder, CASES_FILE)
  const before = existsSync(file) ? await readFile(file, 'utf8') : ''
  const { problems } = parseCases(before, file)
  if (problems.length > 0) throw folderError('Adding a case', problems)
  const after = appendCase(before, testCase)
  const added = parseCases(after, file)
  if (added.problems.length > 0) throw folderError('Adding a case', added.problems)
  await writeFile(file, after)
}
