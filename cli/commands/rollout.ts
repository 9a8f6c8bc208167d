import { Option } from 'commander'
import type * as z from 'zod/mini'
import type { RolloutBody } from '../../clients/typescript/src/index.ts'
import { abortRules, rolloutBody } from '../../lib/contract/bodies/agents.ts'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import type { RolloutRecord } from '../../lib/contract/records/rollout.ts'
import { ROLLOUT_MIN_RUNS } from '../../lib/core/limits.ts'
import { ROLLOUT_KEYS } from '../../lib/core/rollout.ts'
import { agentCommand, type CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { assertNotArchived, explainFor, nextVersionOf } from '../explain-errors.ts'
import { formatCommand } from '../format.ts'
import { parseUuid, parseWith, type SharedOptions } from '../options.ts'

type Options = SharedOptions & {
  version?: string
  percent?: number
  key?: (typeof ROLLOUT_KEYS)[number]
  maxErrorRate?: number
  maxCostIncrease?: number
  maxScoreDrop?: number
  minRuns?: number
  trial?: string
  end?: true
}

const RULES = ['maxErrorRate', 'maxCostIncrease', 'maxScoreDrop'] as const
const CHANGES = ['version', 'percent', 'key', ...RULES, 'minRuns', 'trial'] as const

export function addRolloutCommand(program: CliCommand): void {
  const { maxErrorRate, maxCostIncrease, maxScoreDrop, minRuns } = abortRules.shape
  agentCommand(program, 'rollout')
    .description('Run a part of the executions of an agent on another version, or show its rollout.')
    .option(
      '--percent <number>',
      'share of the runs that get the version; starts or changes the rollout',
      parseNumber(rolloutBody.shape.percent),
    )
    .option('--version <id>', 'ID of the version; default: that of the rollout, or the draft', parseUuid)
    .addOption(new Option('--key <key>', 'what gets the same version; default: tenant').choices(ROLLOUT_KEYS))
    .option(
      '--max-error-rate <fraction>',
      'ends it when more runs have failed: 0.05',
      parseNumber(maxErrorRate),
    )
    .option(
      '--max-cost-increase <fraction>',
      'ends it when a run costs so much more: 0.5',
      parseNumber(maxCostIncrease),
    )
    .option(
      '--max-score-drop <number>',
      'ends it when a mean score is certainly so much lower: 0.05',
      parseNumber(maxScoreDrop),
    )
    .option(
      '--min-runs <number>',
      `runs before it can end; default: ${ROLLOUT_MIN_RUNS.default}`,
      parseNumber(minRuns),
    )
    .option('--trial <id>', 'trial of the version, where the current version requires one', parseUuid)
    .addOption(new Option('--end', 'end it: all runs get the current version').conflicts([...CHANGES]))
    .examples(
      'rollout redact-pii --percent 10 --max-error-rate 0.05 --min-runs 200',
      'rollout redact-pii --percent 50',
      'rollout redact-pii',
      'rollout redact-pii --end',
    )
    .runWithAgent<Options>(
      'manage and read',
      'change or show the rollout',
      async (agent, { client, options }) => {
        const { id, slug } = agent
        if (options.end) {
          await client.endRollout(id)
          return { json: { slug, ended: true }, text: `Ended the rollout of ${slug}.` }
        }
        if (CHANGES.every((name) => options[name] === undefined)) {
          const record = await client.rollout(id)
          return { json: record, text: describe(record) }
        }
        assertNotArchived(agent, options)
        const body = toBody(agent, options)
        const { versionId } = body
        const record = await client.setRollout(id, body).catch(explainFor({ slug, versionId, options }))
        const next = [
          `Make it current: ${formatCommand(options, `promote ${slug} ${versionId}`)}`,
          `End the rollout: ${formatCommand(options, `rollout ${slug} --end`)}`,
        ]
        return { json: record, text: [describe(record), ...next].join('\n') }
      },
    )
}

/** Without a percentage, that of the rollout stays. @throws UserError */
function toBody(agent: AgentRecord, options: Options): RolloutBody {
  const { slug, rollout } = agent
  const { key, minRuns, trial } = options
  const versionId = options.version ?? nextVersionOf(agent, '--version', options)
  const percent = options.percent ?? (rollout?.versionId === versionId ? rollout.percent : undefined)
  if (percent === undefined)
    throw new UserError(`Version ${versionId} of ${slug} has no rollout. Start one with --percent.`)
  const rules = Object.fromEntries(
    RULES.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  )
  const hasRules = Object.keys(rules).length > 0
  if (!hasRules && minRuns !== undefined)
    throw new UserError('--min-runs needs --max-error-rate, --max-cost-increase or --max-score-drop.')
  const abort = hasRules ? { ...rules, ...(minRuns !== undefined && { minRuns }) } : undefined
  return { versionId, percent, key, abort, trial }
}

const describe = ({ versionId, percent, key, abort, startedAt }: RolloutRecord): string => {
  const rules = abort && [
    ...(abort.maxErrorRate === null ? [] : [`more than ${inPercent(abort.maxErrorRate)} fail`]),
    ...(abort.maxCostIncrease === null ? [] : [`a run costs ${inPercent(abort.maxCostIncrease)} more`]),
    ...(abort.maxScoreDrop === null ? [] : [`scores are lower by more than ${abort.maxScoreDrop}`]),
  ]
  const end = rules && `It ends if, after ${abort?.minRuns} runs, ${rules.join(', or ')}.`
  const whose = key === 'tenant' ? 'each tenant always gets the same version' : 'each run is on its own'
  const line = `Version ${versionId} gets ${percent} % of the runs since ${startedAt}; ${whose}.`
  return end ? `${line}\n${end}` : line
}

const inPercent = (fraction: number): string => `${Number((fraction * 100).toPrecision(6))} %`

/** A parser of numbers that a member of the body may have. */
const parseNumber =
  <Schema extends z.ZodMiniType>(schema: Schema) =>
  (text: string): z.output<Schema> =>
    parseWith(schema, /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text)
