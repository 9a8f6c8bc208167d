import { Option } from 'commander'
import type { AuditFilters, Client } from '../../clients/typescript/src/index.ts'
import { listAuditEntries } from '../../lib/access/audit-log.ts'
import { auditParameters } from '../../lib/contract/parameters.ts'
import type { AuditRecord } from '../../lib/contract/records/audit.ts'
import { toAuditRecord } from '../../lib/contract/records/audit.ts'
import { AUDIT_ACTIONS } from '../../lib/core/audit.ts'
import { encodeCursor } from '../../lib/core/cursor.ts'
import { agentIdFrom, timeOfId } from '../../lib/core/ids.ts'
import { isJsonObject } from '../../lib/core/json/json.ts'
import { LONGEST_CHANGE_MS } from '../../lib/core/limits.ts'
import { system } from '../../lib/system.ts'
import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { withOrganization } from '../find.ts'
import { formatCommand, shellQuote, textTable } from '../format.ts'
import { orgOption, parseLimit, parseTime, parseWith } from '../options.ts'
import { callService, findSlugs, getRemote, type RemoteOptions, tokenOption, urlOption } from '../remote.ts'
import type { TableStores } from '../stores.ts'
import { take } from '../take.ts'

type Options = RemoteOptions &
  Pick<AuditFilters, 'action' | 'actor' | 'target' | 'from' | 'to'> & { agent?: string; limit: number }

const PAGE_SIZE = 100
const { shape } = auditParameters

/** Lists the changes of an organization. */
export function addAuditCommand(program: CliCommand): void {
  program
    .command('audit')
    .description(
      'List the changes of an organization: who changed what, and what became of it. Newest first.',
    )
    .addOption(new Option('--action <action>', 'only changes of this kind').choices(AUDIT_ACTIONS))
    .option('--actor <id>', 'only by this token, subject or AWS caller', (text) =>
      parseWith(shape.actor, text),
    )
    .addOption(
      new Option('--target <id>', 'only of the version, execution, tenant, webhook, … with this ID')
        .argParser((text) => parseWith(shape.target, text))
        .conflicts('agent'),
    )
    .option('--agent <slug>', 'only of the agent with this slug or ID, its versions and schedules')
    .option('--from <time>', 'date or time from which on they started', parseTime)
    .option('--to <time>', 'date or time before which they started', parseTime)
    .option('--limit <number>', 'how many', parseLimit, 50)
    .addOption(urlOption('read over HTTP from'))
    .addOption(tokenOption('manage'))
    .addOption(orgOption())
    .examples(
      'audit --action version.promote --from 2026-11-01',
      'audit --agent triage-ticket --actor ada@example.com --json',
    )
    .run<Options>(async (options) => {
      const remote = getRemote(options)
      const { found, slugs } = await (remote
        ? callService(remote, 'read the audit log', (client) => overHttp(client, options))
        : withOrganization(options, (stores, { id }) => onTable(stores, id, options)))
      const rows = found.map((entry) => toRow(entry, slugs))
      const last = found.length === options.limit ? found.at(-1) : undefined
      return {
        json: found,
        text: textTable(HEADER, rows, 'There are no such changes.'),
        ...(last && { note: `Older ones: ${olderCommand(options, last)}` }),
      }
    })
}

type Found = { found: AuditRecord[]; slugs: Map<string, string> }

async function overHttp(client: Client, options: Options): Promise<Found> {
  const { agent, json, limit } = options
  const organizationId = agent === undefined ? '' : (await client.me()).organizationId
  const filters = toFilters(organizationId, options)
  const entries = client.audit({ ...filters, limit: Math.min(limit, PAGE_SIZE) })
  const found = await take(entries, limit)
  return { found, slugs: json ? new Map() : await findSlugs(client, agentsOf(found)) }
}

async function onTable(stores: TableStores, organizationId: string, options: Options): Promise<Found> {
  const found = await take(
    readTable(stores, organizationId, toFilters(organizationId, options)),
    options.limit,
  )
  const slugs = [...agentsOf(found)].map(async (id): Promise<[string, string][]> => {
    const agent = await stores.agents.get({ organizationId, id })
    return agent ? [[id, agent.slug]] : []
  })
  return { found, slugs: new Map((await Promise.all(slugs)).flat()) }
}

async function* readTable(
  { audit, tableSettings }: TableStores,
  organizationId: string,
  filters: AuditFilters,
): AsyncGenerator<AuditRecord, void, undefined> {
  const access = { organizationId, agents: null }
  for (let cursor: string | undefined; ; ) {
    const query = { ...filters, limit: PAGE_SIZE, cursor }
    const { items, next } = await listAuditEntries(
      { audit, system, environment: tableSettings },
      { access, query },
    )
    yield* items.map(toAuditRecord)
    if (!next) return
    cursor = encodeCursor(next)
  }
}

/** @throws UserError for an agent that can be none */
function toFilters(organizationId: string, { agent, ...options }: Options): AuditFilters {
  const { action, actor, from, to } = options
  const target = agent === undefined ? options.target : agentIdFrom(organizationId, agent)
  if (agent !== undefined && target === undefined)
    throw new UserError(`"${agent}" is neither a slug nor the ID of an agent.`)
  return given({ action, actor, target, from, to })
}

const given = (options: { [Name in keyof AuditFilters]: AuditFilters[Name] | undefined }): AuditFilters =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

/** With the same filters. A change in the same millisecond as the last one is repeated rather than left out. */
function olderCommand(options: Options, { id }: AuditRecord): string {
  const { action, actor, target, agent, from } = options
  const to = new Date(timeOfId(id) + 1).toISOString()
  const shown = Object.entries({ action, actor, target, agent, from, to }).flatMap(([name, value]) =>
    value === undefined ? [] : ` --${name} ${shellQuote(value)}`,
  )
  return formatCommand(options, `audit${shown.join('')}`)
}

const agentOf = ({ target: { kind, id, agentId } }: AuditRecord) => agentId ?? (kind === 'agent' ? id : null)
const agentsOf = (entries: AuditRecord[]) => new Set(entries.flatMap((entry) => agentOf(entry) ?? []))

const HEADER = ['TIME', 'ACTION', 'TARGET', 'OF', 'BY', 'VIA', 'RESULT', 'CHANGES']

function toRow(entry: AuditRecord, slugs: Map<string, string>): string[] {
  const { at, action, target, actor, source, changes } = entry
  const { kind, id, agentId, executionId } = target
  const nameOf = (agent: string) => slugs.get(agent) ?? agent
  return [
    at.replace(/\.\d+Z$/, 'Z'),
    action,
    id === null ? '-' : kind === 'agent' ? nameOf(id) : id,
    agentId === undefined ? (executionId ?? '-') : nameOf(agentId),
    actor.name ?? actor.subject ?? sessionOf(actor.id),
    [source.interface, source.ip ?? source.host].join(' ').trim(),
    describeResult(entry),
    Object.entries(changes)
      .map(([name, change]) => `${name}: ${describeChange(change)}`)
      .join('; ') || '-',
  ]
}

function describeResult({ result, error, at }: AuditRecord): string {
  if (result === 'STARTED')
    return Date.now() - Date.parse(at) < LONGEST_CHANGE_MS ? 'in progress' : 'outcome unknown'
  return result === 'FAILED' ? `failed: ${error}` : 'succeeded'
}

/** Of an ARN, what is behind the account: `assumed-role/Admin/ada`. */
const sessionOf = (id: string): string => /^arn:[^:]*:[^:]*:[^:]*:[^:]*:(.+)$/.exec(id)?.[1] ?? id

function describeChange(change: unknown): string {
  if (Array.isArray(change)) return change.join(', ') || 'none'
  if (isJsonObject(change)) return `${change.from} → ${change.to}`
  return String(change)
}
