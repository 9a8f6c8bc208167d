import { InvalidArgumentError, Option } from 'commander'
import { endRollout, type GivenRollout, getRollout, putRollout } from '../../lib/agents/lifecycle/rollout.ts'
import { toRolloutRecord } from '../../lib/api/to-rollout-record.ts'
import { ROLLOUT_KEYS, ROLLOUT_MIN_RUNS, ROLLOUT_PERCENT } from '../../lib/core/rollout.ts'
import { system } from '../../lib/system.ts'
import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { assertNotArchived, explainError } from '../find.ts'
import { formatCommand } from '../format.ts'
import { parseUuid } from '../options.ts'

type Options = {
  version?: string
  percent?: number
  key?: (typeof ROLLOUT_KEYS)[number]
  maxErrorRate?: number
  maxCostIncrease?: number
  minRuns?: number
  trial?: string
  end?: true
}

export function addRolloutCommand(program: CliCommand): void {
  program
    .command('rollout')
    .description('Run a part of the executions of an agent on another version, or show its rollout.')
    .forAgent()
    .option(
      '--percent <number>',
      'share of the runs that get the version; starts or changes the rollout',
      parsePercent,
    )
    .option('--version <id>', 'ID of the version; default: that of the rollout, or the draft', parseUuid)
    .addOption(new Option('--key <key>', 'what gets the same version; default: tenant').choices(ROLLOUT_KEYS))
    .option('--max-error-rate <fraction>', 'ends it when more runs have failed: 0.05', parseFraction)
    .option('--max-cost-increase <fraction>', 'ends it when a run costs so much more: 0.5', parseFraction)
    .option('--min-runs <number>', `runs before it can end; default: ${ROLLOUT_MIN_RUNS.default}`, parseRuns)
    .option('--trial <id>', 'trial of the version, where the current version requires one', parseUuid)
    .option('--end', 'end it: all runs get the current version')
    .examples(
      'rollout redact-pii --percent 10 --max-error-rate 0.05 --min-runs 200',
      'rollout redact-pii --percent 50',
      'rollout redact-pii',
      'rollout redact-pii --end',
    )
    .runWithAgent<Options>(async (agent, { reference, stores, options }) => {
      const { slug, draftVersionId } = agent
      if (options.end) {
        if (options.percent !== undefined) throw new UserError('Specify either --percent or --end.')
        await endRollout(reference)
        return { json: { slug, ended: true }, text: `Ended the rollout of ${slug}.` }
      }
      if (options.percent === undefined) {
        const found = await getRollout(reference)
        return { json: toRolloutRecord(found), text: describe(toRolloutRecord(found)) }
      }
      assertNotArchived(agent, options)
      const versionId = options.version ?? agent.rollout?.versionId ?? draftVersionId
      if (!versionId) {
        const list = formatCommand(options, `versions ${slug}`)
        throw new UserError(`Agent ${slug} has no draft. Specify --version. List versions: ${list}`)
      }
      const given = toGiven(options, options.percent, versionId)
      // A new percentage alone keeps the other settings.
      const kept = agent.rollout?.versionId === versionId ? agent.rollout : null
      const started = await putRollout({
        ...reference,
        system,
        trial: options.trial === undefined ? undefined : { id: options.trial, batches: stores.batches },
        given: { ...given, key: given.key ?? kept?.key, abort: given.abort ?? kept?.abort },
      }).catch((error: unknown) => {
        throw explainError(error, { slug, versionId, options })
      })
      const record = toRolloutRecord(started)
      const next = [
        `Make it current: ${formatCommand(options, `promote ${slug} ${versionId}`)}`,
        `End the rollout: ${formatCommand(options, `rollout ${slug} --end`)}`,
      ]
      return { json: record, text: [describe(record), ...next].join('\n') }
    })
}

function toGiven(
  { key, maxErrorRate, maxCostIncrease, minRuns }: Options,
  percent: number,
  versionId: string,
): GivenRollout {
  const hasRules = maxErrorRate !== undefined || maxCostIncrease !== undefined
  if (!hasRules && minRuns !== undefined)
    throw new UserError('--min-runs needs --max-error-rate or --max-cost-increase.')
  return { versionId, percent, key, ...(hasRules && { abort: { maxErrorRate, maxCostIncrease, minRuns } }) }
}

const describe = ({
  versionId,
  percent,
  key,
  abort,
  startedAt,
}: ReturnType<typeof toRolloutRecord>): string => {
  const rules = abort && [
    ...(abort.maxErrorRate === null ? [] : [`more than ${inPercent(abort.maxErrorRate)} fail`]),
    ...(abort.maxCostIncrease === null ? [] : [`a run costs ${inPercent(abort.maxCostIncrease)} more`]),
  ]
  const end = rules && `It ends if, after ${abort?.minRuns} runs, ${rules.join(', or ')}.`
  const whose = key === 'tenant' ? 'each tenant always gets the same version' : 'each run is on its own'
  const line = `Version ${versionId} gets ${percent} % of the runs since ${startedAt}; ${whose}.`
  return end ? `${line}\n${end}` : line
}

const inPercent = (fraction: number): string => `${Number((fraction * 100).toPrecision(6))} %`

const NUMBER = /^\d{1,7}(\.\d{1,9})?$/

function parsePercent(text: string): number {
  const { min, max } = ROLLOUT_PERCENT
  return parseNumber(text, (percent) => percent >= min && percent <= max, `a number from ${min} to ${max}`)
}

const parseFraction = (text: string): number => parseNumber(text, () => true, 'a fraction, such as 0.05')

function parseRuns(text: string): number {
  const { min, max } = ROLLOUT_MIN_RUNS
  const isValid = (runs: number) => Number.isInteger(runs) && runs >= min && runs <= max
  return parseNumber(text, isValid, `an integer from ${min} to ${max}`)
}

function parseNumber(text: string, isValid: (number: number) => boolean, expected: string): number {
  const number = NUMBER.test(text) ? Number(text) : Number.NaN
  if (isValid(number) && !Number.isNaN(number)) return number
  throw new InvalidArgumentError(`It must be ${expected}.`)
}
