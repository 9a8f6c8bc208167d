import { InvalidArgumentError, Option } from 'commander'
import type { LimitSubject, Limits, LimitsBody, LimitsDetails } from '../../clients/typescript/src/index.ts'
import { decimal, integer, tenantId } from '../../lib/contract/parameters/parameter-types.ts'
import { MAX_COST_USD, RUNS_PER_MINUTE, TENANT_OPEN_EXECUTIONS } from '../../lib/core/limits.ts'
import { LIMITED } from '../../lib/core/usage-limits.ts'
import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { formatCommand, labelled, textTable, toSingleLine } from '../format.ts'
import { parseWith, type SharedOptions } from '../options.ts'
import { findSlugs } from '../service.ts'
import { readAll } from '../take.ts'

/** Commands on the limits of tenants and agents. */
export function addLimitsCommand(program: CliCommand): void {
  const limits = program.command('limits').description('Manage limits of tenants and agents.')
  ofSubject(limits, 'set')
    .description('Set the limits of a tenant or an agent. They replace all that it has.')
    .option('--max-open <number>', 'executions in progress at the same time', (text) =>
      parseWith(integer(TENANT_OPEN_EXECUTIONS), text),
    )
    .option('--max-runs-per-minute <number>', 'runs accepted in a minute of the clock', (text) =>
      parseWith(integer(RUNS_PER_MINUTE), text),
    )
    .option('--max-cost-per-day <dollars>', 'cost in a calendar day (UTC)', parseCost)
    .option('--max-cost-per-month <dollars>', 'cost in a calendar month (UTC)', parseCost)
    .option('--warn-at <share>', 'share of a cost limit at which limit.warning is sent: 0.8', parseShare)
    .option('--queue-when-full', 'asynchronous runs above --max-open wait for their turn')
    .examples(
      'limits set --tenant acme --max-open 5 --queue-when-full --max-cost-per-month 400 --warn-at 0.8',
      'limits set --agent refund --max-runs-per-minute 60',
    )
    .runWithService<SetOptions>('manage', 'set the limits', async (client, options) => {
      const subject = subjectOf(options)
      const { maxOpen, maxRunsPerMinute, maxCostPerDay, maxCostPerMonth, warnAt, queueWhenFull } = options
      if ([maxOpen, maxRunsPerMinute, maxCostPerDay, maxCostPerMonth].every((limit) => limit === undefined))
        throw new UserError(
          'Specify at least one of --max-open, --max-runs-per-minute, --max-cost-per-day and --max-cost-per-month. limits delete removes all.',
        )
      const body: LimitsBody = {
        maxOpenExecutions: maxOpen ?? null,
        maxRunsPerMinute: maxRunsPerMinute ?? null,
        maxCostUsd: { day: maxCostPerDay ?? null, month: maxCostPerMonth ?? null },
        warnAt: warnAt ?? null,
        queueWhenFull: queueWhenFull ?? false,
      }
      const stored = await client.setLimits(subject, body)
      const note = (stored.warnings ?? []).map((warning) => `warning: ${warning}`).join('\n')
      return { json: stored, text: `Set the limits of ${nameOf(subject)}.\n${describe(stored)}`, note }
    })
  ofSubject(limits, 'show')
    .description('Show the limits of a tenant or an agent, and what is used of them.')
    .examples('limits show --tenant acme')
    .runWithService<SubjectOptions>('read', 'read the limits', async (client, options) => {
      const found = await client.limitsOf(subjectOf(options))
      return { json: found, text: describe(found) }
    })
  limits
    .command('list')
    .description('List the limits of agents and tenants.')
    .addOption(new Option('--kind <kind>', 'only those of tenants, or of agents').choices(LIMITED))
    .examples('limits list', 'limits list --kind tenant --json')
    .runWithService<{ kind?: (typeof LIMITED)[number] }>(
      'read',
      'list limits',
      async (client, { kind, json }) => {
        const all = await readAll(client.limits({ kind, limit: 100 }))
        if (json) return { json: all, text: '' }
        const slugs = await findSlugs(client, new Set(all.flatMap(({ agentId }) => agentId ?? [])))
        const rows = all.map((each) => [
          each.agentId === undefined ? 'tenant' : 'agent',
          each.tenantId ?? slugs.get(each.agentId ?? '') ?? each.agentId ?? '',
          `${each.maxOpenExecutions ?? '-'}${each.queueWhenFull ? ' (queue)' : ''}`,
          String(each.maxRunsPerMinute ?? '-'),
          toDollars(each.maxCostUsd.day) ?? '-',
          toDollars(each.maxCostUsd.month) ?? '-',
        ])
        const empty = `There are no limits. Set some: ${formatCommand({}, 'limits set --tenant <id> --max-open <number>')}`
        const header = ['OF', 'NAME', 'OPEN', 'RUNS/MINUTE', 'COST/DAY', 'COST/MONTH']
        return { json: all, text: textTable(header, rows, empty) }
      },
    )
  ofSubject(limits, 'delete')
    .description('Delete the limits of a tenant or an agent.')
    .examples('limits delete --tenant acme')
    .runWithService<SubjectOptions>('manage', 'delete the limits', async (client, options) => {
      const subject = subjectOf(options)
      await client.deleteLimits(subject)
      return { json: { ...subject, deleted: true }, text: `Deleted the limits of ${nameOf(subject)}.` }
    })
}

type SubjectOptions = SharedOptions & { tenant?: string; agent?: string }

const ofSubject = (limits: CliCommand, command: string): CliCommand =>
  limits
    .command(command)
    .option('--tenant <id>', 'of this tenant', parseTenant)
    .option('--agent <slug>', 'of the agent with this slug or ID')

/** The path of a request would lose them. */
function parseTenant(text: string): string {
  if (text === '.' || text === '..') throw new InvalidArgumentError('It must not be "." or "..".')
  return parseWith(tenantId(), text) as string
}

/** @throws UserError */
function subjectOf({ tenant, agent }: SubjectOptions): LimitSubject {
  if (tenant !== undefined && agent === undefined) return { tenantId: tenant }
  if (agent !== undefined && tenant === undefined) return { agent }
  throw new UserError('Specify either --tenant or --agent.')
}

const nameOf = (subject: LimitSubject): string =>
  'agent' in subject ? `the agent ${subject.agent}` : `the tenant ${toSingleLine(subject.tenantId)}`

type SetOptions = SubjectOptions & {
  maxOpen?: number
  maxRunsPerMinute?: number
  maxCostPerDay?: number
  maxCostPerMonth?: number
  warnAt?: number
  queueWhenFull?: true
}

const parseCost = (text: string) => parseWith(decimal(MAX_COST_USD), text)

function parseShare(text: string): number {
  const share = /^[01]?(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN
  if (share > 0 && share <= 1) return share
  throw new InvalidArgumentError('It must be a number above 0 and at most 1, such as 0.8.')
}

const describe = (limits: Limits & Partial<LimitsDetails>): string => {
  const {
    maxOpenExecutions,
    maxRunsPerMinute,
    maxCostUsd,
    warnAt,
    openExecutions,
    spentUsd,
    costCountedFrom,
  } = limits
  const isQueued = limits.queueWhenFull ? '; others wait' : ''
  const row = (label: string, max: string | null, used?: string) => [
    label,
    max === null ? 'no limit' : used === undefined ? max : `${used} of ${max}`,
  ]
  return labelled(
    [
      row(
        'open',
        maxOpenExecutions === null ? null : `${maxOpenExecutions}${isQueued}`,
        openExecutions?.toString(),
      ),
      row('runs per minute', maxRunsPerMinute?.toString() ?? null),
      row('cost per day', toDollars(maxCostUsd.day), toDollars(spentUsd?.day) ?? undefined),
      row('cost per month', toDollars(maxCostUsd.month), toDollars(spentUsd?.month) ?? undefined),
      ...(costCountedFrom ? [['costs count', `from ${costCountedFrom.slice(0, 10)} on (UTC)`]] : []),
      ['warning', warnAt === null ? '-' : `at ${Number((warnAt * 100).toFixed(7))} % of a cost limit`],
    ],
    17,
  )
}

const toDollars = (cost: number | null | undefined): string | null =>
  cost === null || cost === undefined ? null : `$${Number(cost.toFixed(6))}`
