import { Option } from 'commander'
import type { UsageOptions, UsageRow } from '../../clients/typescript/src/index.ts'
import { usageParameters } from '../../lib/contract/parameters/usage.ts'
import { formatNumber, toUsageCsv } from '../../lib/contract/records/usage.ts'
import {
  DIMENSION_FIELDS,
  USAGE_DIMENSIONS,
  USAGE_INTERVALS,
  type UsageDimension,
} from '../../lib/core/usage.ts'
import { countFailed } from '../../lib/core/usage-rows.ts'
import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { textTable } from '../format.ts'
import { parseAs, parseTime, parseWith } from '../options.ts'
import { findSlugs } from '../service.ts'
import { readAll } from '../take.ts'
import { write } from '../terminal.ts'

type Options = Pick<UsageOptions, 'from' | 'to' | 'interval'> & {
  groupBy?: UsageDimension[]
  tenant?: string
  agent?: string
  csv?: true
}

const { shape } = usageParameters

/** Shows what runs used and cost. */
export function addUsageCommand(program: CliCommand): void {
  program
    .command('usage')
    .description('Show what the runs that have ended used and cost.')
    .option('--group-by <list>', `any of ${USAGE_DIMENSIONS.join(', ')}, separated by commas`, (text) =>
      parseWith(shape.groupBy, text),
    )
    .option('--from <time>', 'date or time of the first interval (default: a day before --to)', parseTime)
    .option('--to <time>', 'date or time of the end (default: now)', parseTime)
    .addOption(
      new Option('--interval <length>', 'length of the intervals (default: hour)').choices(USAGE_INTERVALS),
    )
    .option('--tenant <id>', 'only of this tenant', parseAs('tenantId'))
    .option('--agent <slug>', 'only of the agent with this slug or ID')
    .option('--csv', 'print comma-separated values')
    .examples('usage --group-by agent', 'usage --group-by tenant --interval day --from 2026-11-01 --csv')
    .runWithService<Options>(
      'read',
      'read the usage',
      async (client, { groupBy = [], tenant: tenantId, agent, csv, json, from, to, interval }) => {
        if (csv && json) throw new UserError('--csv cannot be combined with --json.')
        const rows = await readAll(client.usage({ groupBy, from, to, interval, tenantId, agent }))
        if (json) return { json: rows, text: '' }
        if (csv) {
          await write(process.stdout, toUsageCsv(rows, groupBy))
          return { json: rows, text: '' }
        }
        const slugs = await findSlugs(client, new Set(rows.flatMap((row) => row.agentId ?? [])))
        const header = ['START', ...groupBy.map((dimension) => dimension.toUpperCase()), ...COLUMNS]
        return { json: rows, text: textTable(header, rows.map(toCells(groupBy, slugs)), NO_RUNS) }
      },
    )
}

const COLUMNS = ['RUNS', 'FAILED', 'CACHED', 'TOKENS IN', 'TOKENS OUT', 'COST']
const NO_RUNS = 'No run ended in this time.'

const toCells = (groupBy: UsageDimension[], slugs: Map<string, string>) => (row: UsageRow) => [
  row.start,
  ...groupBy.map((dimension) => {
    const value = row[DIMENSION_FIELDS[dimension]] ?? '-'
    return dimension === 'agent' ? (slugs.get(value) ?? value) : value
  }),
  ...[row.runs, countFailed(row), row.cacheHits, row.inputTokens, row.outputTokens].map(String),
  formatCost(row),
]

/** `+`: and what has no price. Costs have nine decimals. */
const formatCost = ({ costUsd, unpricedRuns }: UsageRow): string =>
  `$${costUsd >= 1 ? costUsd.toFixed(2) : formatNumber(Number(costUsd.toPrecision(3)))}${unpricedRuns > 0 ? '+' : ''}`
