import { InvalidArgumentError, Option } from 'commander'
import {
  AgentError,
  type Client,
  type Execution,
  type RerunBody,
} from '../../clients/typescript/src/index.ts'
import { integer } from '../../lib/contract/parameters/parameter-types.ts'
import { MAX_CODE_STEPS } from '../../lib/core/limits.ts'
import { REPLAY_SOURCES, type ReplaySource } from '../../lib/core/trial.ts'
import type { CliCommand, Result } from '../command.ts'
import { formatCommand, toSingleLine } from '../format.ts'
import { parseList, parseUuid, parseWith, type SharedOptions } from '../options.ts'
import { showComparison } from './compare.ts'

type Options = {
  version?: string
  tools?: Record<string, ReplaySource>
  models?: ReplaySource
  steps?: ReplaySource
  fromStep?: number
  ignore?: string[]
  wait?: true
}

/** Runs an execution again. */
export function addRerunCommand(program: CliCommand): void {
  const source = (flag: string, description: string) =>
    new Option(`--${flag} <source>`, description).choices(REPLAY_SOURCES)
  program
    .command('rerun')
    .description(
      'Run the agent of an execution again with the same input. By default, it is a new run of the current version. What no option names is live, with all its effects.',
    )
    .argument('<execution>', 'ID of the execution', parseUuid)
    .option('--version <id>', 'version to run (default: the current one)', parseUuid)
    .option(
      '--tools <sources>',
      'recorded or live, and what differs by tool: recorded,search=live',
      parseTools,
    )
    .addOption(source('models', 'recorded: responses of the execution up to the first request that differs'))
    .addOption(source('steps', 'recorded: steps and waits of a code agent have their values'))
    .option('--from-step <number>', 'steps before this one are taken as they are', parseStep)
    .option('--ignore <pointers>', 'JSON Pointers of what is not compared, separated by commas', parseList)
    .option('--wait', 'wait for the end, and compare. The exit code is 1 if the run fails')
    .examples(
      'rerun <execution> --wait',
      'rerun <execution> --version <draft> --tools recorded',
      'rerun <execution> --from-step 5',
    )
    .runWithService<Options>('run', 'run the execution again', async (client, options, [id = '']) => {
      const started = await client.rerun(id, toBody(options))
      if (options.wait) return compareAtEnd(client, id, started, options)
      const compare = formatCommand({}, `compare ${id} ${started.id}`)
      return { json: started, text: `Execution ${started.id} repeats ${id}. Compare them: ${compare}` }
    })
}

const toBody = ({ version: versionId, tools, models, steps, fromStep, ignore }: Options): RerunBody => ({
  ...(versionId && { versionId }),
  ...(tools && { tools }),
  ...(models && { models }),
  ...(steps && { steps }),
  ...(fromStep && { fromStep }),
  ...(ignore && { ignore }),
})

const parseStep = (text: string) => parseWith(integer({ min: 1, max: MAX_CODE_STEPS }), text)

function parseTools(text: string): Record<string, ReplaySource> {
  const entries = parseList(text).map((item): [string, ReplaySource] => {
    const [source, name = 'default'] = item.split('=').reverse()
    if (REPLAY_SOURCES.some((each) => each === source)) return [name, source as ReplaySource]
    throw new InvalidArgumentError('It must be recorded, live, or a list such as recorded,search=live.')
  })
  return Object.fromEntries(entries)
}

/** Codes with which the client rejects because the execution ended in ERROR. */
const FAILURES = ['ExecutionFailed', 'InputSchemaMismatch']

async function compareAtEnd(
  client: Client,
  id: string,
  started: Execution,
  options: SharedOptions,
): Promise<Result> {
  const ended = await client
    .wait(started, { timeoutMs: Number.POSITIVE_INFINITY })
    .catch((error: unknown) => {
      if (!(error instanceof AgentError && FAILURES.includes(error.code))) throw error
      return client.get(started)
    })
  const { json, text } = options.json ? { json: ended, text: '' } : await showComparison(client, id, ended.id)
  const { error } = ended
  const note = error ? `Execution ${ended.id} failed with ${error.code}: ${toSingleLine(error.message)}` : ''
  return { json, text, ...(error && { note, hasFailed: true }) }
}
