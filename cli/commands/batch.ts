import { randomUUID } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { AgentError, type Violation } from '../../clients/typescript/src/index.ts'
import { batchesCommand, newLineNumbers, resultsCommand, typedArgs } from '../batches/come-back.ts'
import { whileWaiting } from '../batches/progress.ts'
import { badLines, readInputs } from '../batches/read-inputs.ts'
import { toResult, writeResults } from '../batches/results.ts'
import type { CliCommand, Result } from '../command.ts'
import { UserError } from '../errors.ts'
import { formatCommand, shellQuote } from '../format.ts'
import { nameOf } from '../input-files.ts'
import { parseAs, type SharedOptions } from '../options.ts'
import { addRunOptions, type RunOptions, toRunParameters } from '../run-options.ts'
import { callService, explainCall, findService, patientClient } from '../service.ts'
import { withProgress } from '../terminal.ts'

type Options = SharedOptions &
  RunOptions & {
    out?: string
    maxBatchCost?: number
    concurrency?: number
    validate?: true
    idempotencyKey?: string
  }

const ACTION = 'run the batch'

export function addBatchCommand(program: CliCommand): void {
  const command: CliCommand = program.command('batch')
  addRunOptions(
    command
      .overHttp('run and read')
      .description(
        'Run an agent with each line of a file, and write the results in the same order. Ctrl-C leaves the batch running. The exit code is 1 if a line fails.',
      )
      .argument('<slug>', "the agent's slug or ID")
      .argument(
        '<file>',
        'lines of JSON, or - for standard input: {"customId": …, "input": …}, or only inputs, whose names are the numbers of their lines',
      )
      .option(
        '--out <file>',
        'file for the results, which appears when it is complete; default: standard output',
      ),
  )
    .option(
      '--max-batch-cost <dollars>',
      'maximum cost of all lines in US dollars',
      parseAs('maxBatchCostUsd'),
    )
    .option('--concurrency <number>', 'how many lines run at the same time', parseAs('maxConcurrency'))
    .option('--validate', 'only check the lines, also by the service')
    .option(
      '--idempotency-key <key>',
      'continue what a command with this key has started in the last 24 hours',
    )
    .examples(
      'batch triage-ticket tickets.ndjson --out results.ndjson',
      'batch triage-ticket tickets.ndjson --out results.ndjson --max-batch-cost 5 --concurrency 100',
      'batch triage-ticket - --strict --validate < tickets.ndjson',
    )
    .run<Options>((options, [agent = '', source = '']) =>
      runBatch(agent, source, options, typedArgs(command)),
    )
}

/** @throws UserError */
async function runBatch(agent: string, source: string, options: Options, typed: string[]): Promise<Result> {
  const { out = '-', validate, idempotencyKey = randomUUID() } = options
  if (options.json && out === '-' && !validate)
    throw new UserError('With --json, standard output is for the summary: add --out <file> for the results.')
  if (out !== '-' && resolve(out) === resolve(source))
    throw new UserError('--out is the file of the inputs. Specify another one.')
  const remote = await findService(options)
  // Tells of a mistyped address or token at once: the other requests are retried for minutes.
  await callService(remote, ACTION, ({ client }) => client.me())
  const total = (await canReadAgain(source))
    ? await withProgress(`Checking ${source}`, countInputs(source))
    : undefined
  if (total === 0) throw new UserError(`${source} has no lines.`)

  const numbers = newLineNumbers()
  let submitted = 0
  let ids: readonly string[] = []
  /** How to get what was started, and the rest. */
  const comeBack = (): string[] => {
    const again = [...typed, '--idempotency-key', idempotencyKey].map(shellQuote).join(' ')
    return [
      ...(ids.length > 0 ? [`Results: ${resultsCommand(ids, options, out)}`] : []),
      ...ids.slice(-1).map((id) => `Cancel: ${batchesCommand(`cancel ${id}`, options)}`),
      ...(submitted === total
        ? []
        : [`All lines, also those that have not started: ${formatCommand({}, again)}`]),
    ]
  }
  const describeStop = () => {
    const last = ids.at(-1)
    const state = last === undefined ? 'Stopped.' : `Stopped waiting. Batch ${last} continues.`
    return [state, ...(validate ? [] : comeBack())].join('\n')
  }
  const waiting = { out: validate ? '-' : out, lines: total, describeStop }
  const running = whileWaiting(waiting, async (progress, file) => {
    const run = patientClient(remote).batch(agent, readInputs(source, numbers.add), {
      ...toRunParameters(options),
      ...{ tenantId: options.tenant, version: options.version, validateOnly: validate, idempotencyKey },
      ...{ maxBatchCostUsd: options.maxBatchCost, maxConcurrency: options.concurrency },
      onProgress(batch) {
        submitted = progress.update(batch)
      },
    })
    ids = run.ids
    const summary = await writeResults(run, file)
    const count = numbers.count()
    if (count === 0) throw new UserError(`${nameOf(source)} has no lines.`)
    if (validate)
      return { json: { lines: count, valid: true }, text: `${nameOf(source)}: ${count} lines are valid.` }
    const hint = ids.map((id) => `Retry: ${batchesCommand(`retry ${id}`, options)}`).join('\n')
    return toResult(ids, summary, out, hint)
  })
  return running.catch((error: unknown) => {
    const reason = explain(error, remote.url, (errors) =>
      badLines(
        source,
        errors.map((violation) => inFile(violation, numbers.of)),
      ),
    )
    const mayRun = ids.length > 0 || reason.details.code === 'ConnectionFailed'
    if (validate || !mayRun) throw reason
    const details = { ...reason.details, batches: ids }
    throw new UserError([reason.message, ...comeBack()].join('\n'), { details, lines: reason.lines })
  })
}

/** Not standard input, nor another pipe. */
const canReadAgain = async (source: string): Promise<boolean> =>
  source !== '-' && ((await stat(source).catch(() => null))?.isFile() ?? true)

/** Checks all lines before the first batch starts. @throws UserError */
async function countInputs(source: string): Promise<number> {
  let count = 0
  for await (const _ of readInputs(source)) count++
  return count
}

/** @param toError of bad lines that the service has found */
function explain(error: unknown, url: string, toError: (errors: Violation[]) => UserError): UserError {
  if (error instanceof UserError) return error
  const errors = error instanceof AgentError && 'errors' in error ? (error.errors ?? []) : []
  return errors.some(({ line }) => line !== undefined) ? toError(errors) : explainCall(error, url, ACTION)
}

/** @param numberOf the line of the file */
function inFile(violation: Violation, numberOf: (position: number) => number): Violation {
  if (violation.line === undefined) return violation
  const line = numberOf(violation.line)
  return { ...violation, line, message: violation.message.replace(/^Line \d+/, `Line ${line}`) }
}
