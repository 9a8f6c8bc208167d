import { Option } from 'commander'
import type { AuditFilters, Client } from '../../clients/typescript/src/index.ts'
import { auditParameters } from '../../lib/contract/parameters/lists.ts'
import type { AuditRecord } from '../../lib/contract/records/audit.ts'
import { AUDIT_ACTIONS } from '../../lib/core/audit.ts'
import { agentIdFrom, timeOfId } from '../../lib/core/ids.ts'
import { isJsonObject } from '../../lib/core/json/json.ts'
import { LONGEST_CHANGE_MS } from '../../lib/core/limits.ts'
import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { formatCommand, shellQuote, textTable } from '../format.ts'
import { parseLimit, parseTime, parseWith, type SharedOptions } from '../options.ts'
import { findSlugs } from '../service.ts'
import { take } from '../take.ts'

type Options = SharedOptions &
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
    .examples(
      'audit --action version.promote --from 2026-11-01',
      'audit --agent triage-ticket --actor ada@example.com --json',
    )
    .runConnected<Options>('manage', 'read the audit log', async ({ client, options }) => {
      const { json, limit } = options
      const entries = client.audit({
        ...(await toFilters(client, options)),
        limit: Math.min(limit, PAGE_SIZE),
      })
      const found = (await take(entries, limit)) as AuditRecord[]
      const slugs = json ? new Map() : await findSlugs(client, agentsOf(found))
      const rows = found.map((entry) => toRow(entry, slugs))
      const last = found.length === limit ? found.at(-1) : undefined
      return {
        json: found,
        text: textTable(HEADER, rows, 'There are no such changes.'),
        ...(last && { note: `Older ones: ${olderCommand(options, last)}` }),
      }
    })
}

/** @throws UserError for an agent that can be none */
async function toFilters(client: Client, { agent, ...options }: Options): Promise<AuditFilters> {
  const { action, actor, from, to } = options
  if (agent === undefined) return { action, actor, target: options.target, from, to }
  const target = agentIdFrom((await client.me()).organizationId, agent)
  if (target === undefined) throw new UserError(`"${agent}" is neither a slug nor the ID of an agent.`)
  return { action, actor, target, from, to }
}

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
