import type { Command } from 'commander'
import { type Execution, type ExecutionError, isFinal } from '../../lib/core/execution.ts'
import { checkRunRequest } from '../../lib/engine/submit/run-request.ts'
import { chooseOrganization } from '../choose-organization.ts'
import { examples } from '../command-line.ts'
import { findVersion } from '../find-agent.ts'
import { orgOption, toTenantId, toUuid } from '../options.ts'
import { answering } from '../output.ts'
import { withProgress } from '../progress.ts'
import { readInput } from '../read-input.ts'
import { runHere } from '../run-here.ts'
import { withStore } from '../store.ts'
import { UserError } from '../user-error.ts'

type Options = { input: string; version?: string; tenant?: string; strict?: true }

export function addRun(program: Command): void {
  program
    .command('run')
    .description('Runs an agent in this process, records the execution, and prints the output.')
    .argument('<slug>', "the agent's slug or id")
    .requiredOption('--input <file>', 'a file with the input as a JSON object, or - for standard input')
    .option('--version <id>', 'the version to run, a draft for example, instead of the current one', toUuid)
    .option('--tenant <id>', 'the customer that the execution belongs to', toTenantId)
    .option('--strict', 'refuse input that does not precisely match the input schema')
    .addOption(orgOption())
    .addHelpText(
      'after',
      examples(
        'run redact-pii --input input.json',
        `run redact-pii --input - <<< '{"content": "ada@example.com"}'`,
      ),
    )
    .action(
      answering<Options>(async (options, [idOrSlug = '']) => {
        const input = await readInput(options.input)
        return withStore(options, async (store) => {
          const organization = await chooseOrganization(store, options)
          const version = await findVersion({
            store,
            organization,
            idOrSlug,
            versionId: options.version,
            options,
          })
          const overrides = { enforceInputSchema: options.strict, tenantId: options.tenant }
          const request = checkRunRequest(version, input, overrides)
          const execution = await withProgress(`running ${version.slug}`, runHere(store, request))
          const output = outputOf(execution)
          const note = `execution ${execution.id}, version ${version.id}`
          return { json: output, text: JSON.stringify(output, null, 2), note }
        })
      }),
    )
}

/** @throws UserError with the execution's error when it has no output */
function outputOf(execution: Execution): Execution['output'] {
  const { id: executionId, status, error } = execution
  if (status === 'SUCCESS') return execution.output
  if (!isFinal(execution)) {
    throw new UserError(`The run goes on elsewhere: execution ${executionId}.`, { details: { executionId } })
  }
  const {
    code = 'Unknown',
    message = 'no reason is recorded',
    errors,
    ...rest
  } = error ?? ({} as Partial<ExecutionError>)
  const problems = Array.isArray(errors) ? (errors as { message: string }[]) : []
  throw new UserError(`The run ended in ERROR, ${code}: ${message} (execution ${executionId})`, {
    details: { code, executionId, ...(problems.length > 0 && { problems }), ...rest },
    lines: problems.map((problem) => problem.message),
  })
}
