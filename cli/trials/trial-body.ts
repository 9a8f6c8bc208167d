import { InvalidArgumentError, Option } from 'commander'
import type { TrialBody } from '../../clients/typescript/src/index.ts'
import { isUuid } from '../../lib/core/ids.ts'
import { isJsonPointer } from '../../lib/core/json/pointer.ts'
import { MAX_TRIAL_RUNS, REPLAY_SOURCES, type ReplaySource } from '../../lib/core/trial.ts'
import type { CliCommand } from '../command.ts'
import { parseAs, parseLimit, parseList, parseTime, parseUuid } from '../options.ts'

export type TrialOptions = {
  last?: number
  version?: string
  from?: string
  to?: string
  tenant?: string
  corrected?: true
  rated?: true
  executions?: string[]
  tools?: Record<string, ReplaySource>
  models?: ReplaySource
  steps?: ReplaySource
  ignore?: string[]
  maxCost?: number
  concurrency?: number
}

/** Options that select executions, which `--executions` replaces. */
const SELECTING = ['last', 'from', 'to', 'tenant', 'corrected', 'rated']

export const addTrialOptions = (command: CliCommand): CliCommand =>
  command
    .option('--last <number>', 'how many executions: the newest ones (default: 100)', parseLimit)
    .option('--version <id>', 'version to try (default: the draft)', parseUuid)
    .option('--from <time>', 'only executions created at this time or date, or later', parseTime)
    .option('--to <time>', 'only executions created before this time or date', parseTime)
    .option('--tenant <id>', 'only executions of this tenant', parseAs('tenantId'))
    .addOption(new Option('--corrected', 'only executions with a corrected output').conflicts('rated'))
    .option('--rated', 'only executions with feedback')
    .addOption(
      new Option('--executions <ids>', 'these executions, separated by commas')
        .argParser(parseExecutions)
        .conflicts(SELECTING),
    )
    .option(
      '--tools <name=source...>',
      'tools that are called: <name>=live; default=live for all (default: default=recorded)',
      parseTools,
    )
    .addOption(
      new Option('--models <source>', 'where responses come from (default: live)').choices(REPLAY_SOURCES),
    )
    .addOption(
      new Option('--steps <source>', 'where steps of code agents come from (default: recorded)').choices(
        REPLAY_SOURCES,
      ),
    )
    .option(
      '--ignore <pointer...>',
      'JSON Pointers into arguments and outputs that are not compared',
      parsePointer,
    )
    .option('--max-cost <dollars>', 'maximum cost of all runs in US dollars', parseAs('maxBatchCostUsd'))
    .option('--concurrency <number>', 'how many run at the same time', parseAs('maxConcurrency'))

function parseExecutions(text: string): string[] {
  const ids = parseList(text)
  const invalid = ids.find((id) => !isUuid(id))
  if (invalid !== undefined) throw new InvalidArgumentError(`"${invalid}" is not the ID of an execution.`)
  if (ids.length > MAX_TRIAL_RUNS)
    throw new InvalidArgumentError(`It must have at most ${MAX_TRIAL_RUNS} executions.`)
  return ids
}

/** Adds one of several values. */
function parseTools(text: string, tools: Record<string, ReplaySource> = {}): Record<string, ReplaySource> {
  const [, name, source] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name !== undefined && isSource(source)) return { ...tools, [name]: source }
  throw new InvalidArgumentError(`It must be <name>=${REPLAY_SOURCES.join(' or <name>=')}.`)
}

const isSource = (text: string | undefined): text is ReplaySource =>
  REPLAY_SOURCES.some((source) => source === text)

function parsePointer(text: string, pointers: string[] = []): string[] {
  if (text === '') throw new InvalidArgumentError('The empty JSON Pointer is the whole value.')
  if (isJsonPointer(text)) return [...pointers, text]
  throw new InvalidArgumentError('It must be a JSON Pointer (RFC 6901), such as /items/0/price.')
}

export function toTrialBody(options: TrialOptions): TrialBody {
  const { last, tenant, corrected, rated, maxCost, concurrency } = options
  const { from, to, executions, tools, models, steps, ignore } = options
  const body = {
    limit: last,
    ...{ from, to, executions, tools, models, steps, ignore },
    tenantId: tenant,
    feedback: corrected ? 'corrected' : rated ? 'rated' : undefined,
    maxTrialCostUsd: maxCost,
    maxConcurrency: concurrency,
  }
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))
}

/** The options that stand for members of the body, by which the service names what is wrong. */
const OPTIONS: Record<string, string> = {
  limit: '--last',
  tenantId: '--tenant',
  maxTrialCostUsd: '--max-cost',
  maxConcurrency: '--concurrency',
}

/** A message of the service with the option in place of the member of the body. */
export const inOptions = (message: string): string =>
  message.replaceAll(
    /(?<=^|\s)\/(limit|from|to|tenantId|feedback|executions|tools|models|steps|ignore|maxTrialCostUsd|maxConcurrency)\b(?:\/([\w-]+))?/g,
    (_, member: string, name?: string) =>
      [OPTIONS[member] ?? `--${member}`, ...(name === undefined ? [] : [name])].join(' '),
  )
