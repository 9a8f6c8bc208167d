import { type Command, InvalidArgumentError, Option } from 'commander'
import { checkFolder } from '../../../authoring/check-folder.ts'
import { formatReport, toReport } from '../../authoring/case-report.ts'
import { folderError } from '../../authoring/folder-problems.ts'
import { testCases } from '../../authoring/test-cases.ts'
import { UserError } from '../../errors.ts'
import { formatExamples } from '../../format.ts'
import { toAction } from '../../output.ts'

type Options = {
  case: string[]
  repeat: number
  model?: string
  record?: true
  replay?: true
  types: boolean
}

const MAX_REPEATS = 1_000

export function addTestCommand(program: Command): void {
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
    .option(
      '--model <name>',
      'model to use instead of the one of the agent: {provider}/{model}[:{reasoning}]',
    )
    .addOption(
      new Option('--record', 'store what models and tools return, for --replay').conflicts([
        'replay',
        'repeat',
      ]),
    )
    .option('--replay', 'use what was recorded: no model, network or API key is needed')
    .option('--no-types', 'do not check the types of the code')
    .addHelpText('after', formatExamples('test agents/redact-pii', 'test agents/triage-ticket --replay'))
    .action(
      toAction<Options>(async (options, [folder = '']) => {
        const { agent, cases, problems } = await checkFolder(folder, { types: options.types })
        if (!agent) throw folderError('Test', problems)
        if (cases.length === 0) throw new UserError(`${folder} has no cases. Write some into cases.yaml.`)
        const report = toReport(
          await testCases(folder, agent, cases, {
            mode: options.record ? 'record' : options.replay ? 'replay' : 'live',
            repeat: options.repeat,
            model: options.model ?? null,
            names: options.case,
          }),
        )
        return { json: report, text: formatReport(report), hasFailed: report.failed > 0 }
      }),
    )
}

function parseRepeat(text: string): number {
  const number = Number(text)
  if (/^[1-9]\d*$/.test(text) && number <= MAX_REPEATS) return number
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_REPEATS}.`)
}
