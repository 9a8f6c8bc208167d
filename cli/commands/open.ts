import { InvalidArgumentError } from 'commander'
import pLimit from 'p-limit'
import { Unavailable } from '../../lib/core/errors.ts'
import type { ExecutionSummary } from '../../lib/core/execution.ts'
import {
  endOpen,
  type OpenFilter,
  type OpenResult,
  readOpen,
  resumeOpen,
} from '../../lib/engine/executions/open-executions.ts'
import { withOutbox } from '../../lib/engine/notifications/outbox.ts'
import { system } from '../../lib/system.ts'
import type { CliCommand, Result } from '../command.ts'
import { UserError } from '../errors.ts'
import { formatCommand, textTable } from '../format.ts'
import { parseLimit, parseUuid, type SharedOptions } from '../options.ts'
import { COLUMNS, describeOpen, type OpenStores, toRow } from '../table/open-rows.ts'
import { withTable } from '../table/open-table.ts'

type FilterOptions = SharedOptions & { agent?: string; olderThan?: number; tools?: boolean; all?: true }

/** Commands on the executions in progress of all organizations, for example after a restore. */
export function addOpenCommand(program: CliCommand): void {
  const open = program
    .command('open')
    .description('List, end or resume the executions in progress, for example after a restore.')
  addListCommand(open)
  addEndCommand(open)
  addResumeCommand(open)
}

const withFilters = (command: CliCommand): CliCommand =>
  command
    .argument('[ids...]', 'only the executions with these IDs', (id, ids: string[] = []) => [
      ...ids,
      parseUuid(id),
    ])
    .option('--org <uuid>', 'only of this organization; default: of all of them', parseUuid)
    .option('--agent <slug>', 'only of the agent with this slug or ID')
    .option('--older-than <time>', 'only those accepted longer ago than 30m, 2h or 1d', parseAge)
    .option('--tools', 'only of agents that have tools or code, whose calls a new run repeats')
    .option('--no-tools', 'only of agents that have neither: a new run only costs model responses')

function addListCommand(open: CliCommand): void {
  withFilters(open.command('list'))
    .description('List the executions in progress, oldest first, and count them by agent.')
    .option('--limit <number>', 'how many to show; all are counted', parseLimit, 50)
    .examples('open list', 'open list --tools --older-than 1h')
    .run<FilterOptions & { limit: number }>((options, args) =>
      withOpenStores(options, (stores) => list(stores, options, args)),
    )
}

async function list(
  stores: OpenStores,
  options: FilterOptions & { limit: number },
  args: string[],
): Promise<Result> {
  const counts = new Map<string, number>()
  let oldest: ExecutionSummary[] = []
  let total = 0
  for await (const page of readOpen(stores, toFilter(options, args))) {
    total += page.length
    for (const { agentId } of page) counts.set(agentId, (counts.get(agentId) ?? 0) + 1)
    oldest = [...oldest, ...page].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, options.limit)
    reportProgress('Read', total)
  }
  const executions = await Promise.all(oldest.map((each) => describeOpen(stores, each)))
  const slugs = new Map(executions.map(({ agentId, agent }) => [agentId, agent]))
  const agents = [...counts]
    .map(([agentId, count]) => ({ agentId, agent: slugs.get(agentId) ?? null, open: count }))
    .sort((a, b) => b.open - a.open)
  const lines = [
    textTable(COLUMNS, executions.map(toRow), 'No execution is in progress.'),
    ...(total > executions.length ? ['', `${executions.length} of ${total} are shown (--limit).`] : []),
    ...(agents.length > 1
      ? ['', ...agents.map(({ agentId, agent, open }) => `${open}  ${agent ?? agentId}`)]
      : []),
  ]
  return { json: { open: total, agents, executions }, text: lines.join('\n') }
}

function addEndCommand(open: CliCommand): void {
  withFilters(open.command('end'))
    .description('End executions in ERROR Cancelled, so that no worker runs their tools again.')
    .option('--all', 'required if nothing else selects executions')
    .option('--force', 'also end those that a worker is running')
    .examples('open end --all --stack Prod-Restored-20261123', 'open end --tools --older-than 1h')
    .run<FilterOptions & { force?: true }>((options, args) =>
      changeOpen(options, args, {
        verb: 'Ended',
        change: (stores, execution) => endOpen(stores, execution, { isForced: options.force ?? false }),
        hint: 'A worker is running them; --force ends them too',
      }),
    )
}

function addResumeCommand(open: CliCommand): void {
  withFilters(open.command('resume'))
    .description('Let executions run again from their last step, with a new deadline, at the next sweep.')
    .option('--all', 'required if nothing else selects executions')
    .examples('open resume --no-tools', 'open resume 0199f3a8-5f1e-7c63-9a51-3d0f6f0b7c11')
    .run<FilterOptions>((options, args) =>
      changeOpen(options, args, { verb: 'Resumed', change: resumeOpen, hint: 'A worker is running them' }),
    )
}

type Change = {
  verb: string
  change: (stores: OpenStores, execution: ExecutionSummary) => Promise<OpenResult>
  /** Why some are skipped. */
  hint: string
}

/** Changes at the same time. */
const MAX_PARALLEL = 64

/** Every change is one conditional write: after an interruption, the same command continues with the rest. */
function changeOpen(options: FilterOptions, args: string[], { verb, change, hint }: Change): Promise<Result> {
  const filter = toFilter(options, args)
  if (!options.all && Object.values(filter).every((value) => value === undefined))
    throw new UserError(
      `Select executions by ID or with an option, or all of them with --all. List them first: ${formatCommand(options, 'open list')}`,
    )
  return withOpenStores(options, async (stores) => {
    const counts: Record<OpenResult, number> = { done: 0, running: 0, closed: 0 }
    const missing = new Set(filter.ids)
    const limit = pLimit(MAX_PARALLEL)
    try {
      for await (const page of readOpen(stores, filter)) {
        const changes = page.map((execution) =>
          limit(async () => {
            counts[await change(stores, execution)]++
            missing.delete(execution.id)
            reportProgress(verb, counts.done)
          }),
        )
        const [failed] = (await Promise.allSettled(changes)).filter(({ status }) => status === 'rejected')
        if (failed) throw (failed as PromiseRejectedResult).reason
      }
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      throw new UserError(
        `${verb} ${counts.done}, then the database did not respond any more. Run the command again: it continues with the rest.`,
        { details: { code: error.code, ...counts } },
      )
    }
    const lines = [
      `${verb} ${count(counts.done)}.`,
      ...(counts.running > 0 ? [`Skipped ${count(counts.running)}. ${hint}.`] : []),
      ...(counts.closed > 0 ? [`${count(counts.closed)} ended or deleted in the meantime.`] : []),
      ...[...missing].map((id) => `${id} is not in progress.`),
    ]
    const json = { [verb.toLowerCase()]: counts.done, running: counts.running, closed: counts.closed }
    return {
      json: { ...json, ...(filter.ids && { notOpen: [...missing] }) },
      text: lines.join('\n'),
      hasFailed: counts.running + missing.size > 0,
    }
  })
}

const count = (number: number): string => `${number} execution${number === 1 ? '' : 's'}`

/** The sweeper of the service finds the marks of the outbox. */
const NO_MESSAGES = { send: async () => undefined }

const withOpenStores = <T>(options: SharedOptions, work: (stores: OpenStores) => Promise<T>): Promise<T> =>
  withTable(options, ({ stores }) => work({ ...withOutbox(stores, { queue: NO_MESSAGES, system }), system }))

function toFilter(options: FilterOptions, [ids]: unknown[]): OpenFilter {
  const { org, agent, olderThan, tools } = options
  const given = (ids as string[] | undefined) ?? []
  return {
    ids: given.length > 0 ? new Set(given) : undefined,
    organizationId: org,
    agent,
    createdBefore: olderThan === undefined ? undefined : system.now() - olderThan,
    hasTools: tools,
  }
}

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

function parseAge(text: string): number {
  const [, number, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (number === undefined) throw new InvalidArgumentError('It must be a time such as 30m, 2h or 1d.')
  return Number(number) * (UNITS[unit] ?? 0)
}

const PROGRESS_INTERVAL_MS = 2_000
let reportedAt = performance.now()

function reportProgress(verb: string, number: number): void {
  if (performance.now() - reportedAt < PROGRESS_INTERVAL_MS) return
  reportedAt = performance.now()
  process.stderr.write(`${verb} ${number}…\n`)
}
