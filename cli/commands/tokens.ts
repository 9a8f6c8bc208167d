import { createToken, revokeToken } from '../../lib/access/manage-tokens.ts'
import {
  type Access,
  DEFAULT_SCOPES,
  SCOPES,
  type Scope,
  TOKEN_LIFETIME_DAYS,
  type TokenLimits,
  UNLIMITED,
} from '../../lib/core/access.ts'
import type { Token } from '../../lib/core/agent.ts'
import { ServiceError } from '../../lib/core/errors.ts'
import { agentIdFrom } from '../../lib/core/ids.ts'
import { readPages } from '../../lib/core/read-pages.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import { system } from '../../lib/system.ts'
import { operatorId } from '../../local/development.ts'
import type { CliCommand } from '../command.ts'
import { findOrganization, withOrganization } from '../connect.ts'
import { UserError } from '../errors.ts'
import { formatCommand, relativeTime, textTable } from '../format.ts'
import {
  orgOption,
  parseAgents,
  parseAs,
  parseLifetime,
  parseName,
  parseOverlap,
  parseRate,
  parseScopes,
  parseUuid,
  type SharedOptions,
} from '../options.ts'
import { type OpenTable, withTable } from '../table/open-table.ts'
import { readAll } from '../take.ts'

export function addTokensCommand(program: CliCommand): void {
  const tokens = program.command('tokens').description("Manage an organization's API tokens.")
  addCreateCommand(tokens)
  addListCommand(tokens)
  addRotateCommand(tokens)
  addRevokeCommand(tokens)
}

type CreateOptions = {
  name: string
  expires: number
  scopes: Scope[]
  agents?: string[]
  tenant?: string
  rate?: number
}

function addCreateCommand(tokens: CliCommand): void {
  tokens
    .command('create')
    .description('Create an API token. The token is shown only once.')
    .requiredOption('--name <text>', 'name that identifies the token in lists', parseName)
    .option(
      '--expires <days>',
      `days until the token expires, or never (default: ${TOKEN_LIFETIME_DAYS.default})`,
      parseLifetime,
      parseLifetime(String(TOKEN_LIFETIME_DAYS.default)),
    )
    .option(
      '--scopes <list>',
      `${SCOPES.join(', ')}, comma-separated (default: ${DEFAULT_SCOPES.join()})`,
      parseScopes,
      DEFAULT_SCOPES,
    )
    .option('--agents <list>', 'slugs or IDs of the only agents that it may use', parseAgents)
    .option(
      '--tenant <id>',
      'the only tenant that it may use, and the default of its runs',
      parseAs('tenantId'),
    )
    .option('--rate <n/s>', 'maximum requests per second, such as 10/s', parseRate)
    .examples(
      'tokens create --name ci --scopes run,read,manage --expires 30',
      'tokens create --name acme --scopes run,read --agents triage-ticket --tenant acme --rate 10/s',
    )
    .addOption(orgOption())
    .run<CreateOptions>((options) =>
      withOrganization(options, async ({ organization, ...table }) => {
        const { name, expires, scopes, agents = null, tenant: tenantId = null, rate = null } = options
        const limits: TokenLimits = { scopes, agents, tenantId, rate }
        const given = { name, expiresAt: toExpiry(expires, system.now()), ...limits }
        const created = await create(table, { access: operatorOf(organization.id), given })
        const missing = await findMissingAgents(table.stores, created.token)
        const note = [
          `Created token "${name}" for ${organization.name}. ${describeExpiry(created.token)}`,
          `Scopes: ${describeScopes(created.token)}. Limits: ${describeLimits(created.token)}.`,
          ...(scopes === DEFAULT_SCOPES
            ? ['For more scopes, create one with --scopes run,read,manage.']
            : []),
          ...missing.map((agent) => `Warning: the organization has no agent ${agent} yet.`),
          ...adviceOn(created.token, options),
        ].join('\n')
        return { json: toJson(created), text: created.text, note }
      }),
    )
}

type Creation = Parameters<typeof createToken>[1]

function create({ stores, record }: OpenTable, { access, given }: Creation) {
  const { organizationId } = access
  const target = { kind: 'token' as const, id: null }
  const change = { organizationId, action: 'token.create' as const, target, changes: given }
  return record(change, async (note) => {
    const created = await createToken({ ...stores, system }, { access, given })
    note({ target: { id: created.token.id } })
    return created
  })
}

type Revocation = Parameters<typeof revokeToken>[1]

function revoke({ stores, record }: OpenTable, { access, tokenId: id, afterSeconds }: Revocation) {
  const { organizationId } = access
  const target = { kind: 'token' as const, id }
  const change = { organizationId, action: 'token.revoke' as const, target, changes: { afterSeconds } }
  return record(change, async (note) => {
    const token = await revokeToken({ ...stores, system }, { access, tokenId: id, afterSeconds })
    note({ name: token.name, expiresAt: token.expiresAt })
    return token
  })
}

/** An operator may do everything in every organization. */
const operatorOf = (organizationId: string): Access => ({
  ...UNLIMITED,
  organizationId,
  tokenId: operatorId(),
})

/** @param lifetimeMs infinity for never */
const toExpiry = (lifetimeMs: number, now: number): string | null =>
  Number.isFinite(lifetimeMs) ? new Date(now + lifetimeMs).toISOString() : null

function toJson({ token, text }: { token: Token; text: string }) {
  const { id, organizationId, name, expiresAt, scopes, agents, tenantId, rate } = token
  const set = Object.entries({ scopes, agents, tenantId, rate }).filter(([, value]) => value !== null)
  return { id, token: text, organizationId, name, expiresAt, ...Object.fromEntries(set) }
}

const describeExpiry = ({ expiresAt }: Token): string =>
  `It ${expiresAt ? `expires on ${expiresAt}` : 'never expires'}.`

const adviceOn = ({ id }: Token, options: SharedOptions): string[] => [
  'Save it now: it is not shown again. Send it in the header "Authorization: Bearer <token>".',
  `Revoke it: ${formatCommand(options, `tokens revoke ${id}`)}`,
]

async function findMissingAgents(stores: Stores, { organizationId, agents }: Token): Promise<string[]> {
  const missing = (agents ?? []).map(async (agent) => {
    const id = agentIdFrom(organizationId, agent)
    return id && (await stores.agents.get({ organizationId, id })) ? [] : agent
  })
  return (await Promise.all(missing)).flat()
}

function addListCommand(tokens: CliCommand): void {
  tokens
    .command('list')
    .description("List an organization's API tokens, newest first, without their secrets.")
    .examples('tokens list')
    .addOption(orgOption())
    .run((options) =>
      withOrganization(options, async ({ stores, organization: { id: organizationId, name } }) => {
        const tokens = await readAll(readPages((page) => stores.tokens.list({ organizationId, ...page })))
        const create = formatCommand(options, 'tokens create --name <text>')
        return {
          json: tokens.map(({ hash: _, ...record }) => record),
          text: textTable(COLUMNS, tokens.map(toRow), `${name} has no tokens. Create one: ${create}`),
        }
      }),
    )
}

const COLUMNS = ['TOKEN', 'NAME', 'STATUS', 'CREATED', 'LAST USED', 'STARTS WITH', 'SCOPES', 'LIMITS']

const toRow = (token: Token): string[] => [
  token.id,
  token.name,
  describeStatus(token),
  relativeTime(token.createdAt),
  token.lastUsedAt ? toHour(token.lastUsedAt) : 'never',
  `${token.prefix}…`,
  describeScopes(token),
  describeLimits(token),
]

/** `2026-11-22 14:00 UTC`: no more is known of a last use. */
const toHour = (timestamp: string) => `${timestamp.slice(0, 16).replace('T', ' ')} UTC`

const describeScopes = ({ scopes }: TokenLimits): string => scopes?.join(', ') ?? 'all'

function describeLimits({ agents, tenantId, rate }: TokenLimits): string {
  const limits = [
    agents && `agents ${agents.join(', ')}`,
    tenantId !== null && `tenant ${tenantId}`,
    rate !== null && `${rate}/s`,
  ]
  return limits.filter(Boolean).join('; ') || 'none'
}

function describeStatus({ revokedAt, expiresAt }: Token): string {
  if (revokedAt) return `revoked ${relativeTime(revokedAt)}`
  if (!expiresAt) return 'valid'
  return Date.parse(expiresAt) <= Date.now()
    ? `expired ${relativeTime(expiresAt)}`
    : `valid, expires ${relativeTime(expiresAt)}`
}

type RotateOptions = SharedOptions & { overlap: number; expires?: number }

function addRotateCommand(tokens: CliCommand): void {
  tokens
    .command('rotate')
    .description('Replace an API token by a new one that may do the same. The new one is shown only once.')
    .argument('<id>', "the token's ID, as shown by tokens list", parseUuid)
    .option(
      '--overlap <time>',
      'how long the old token stays valid, such as 30m, 24h or 7d, or none (default: 24h)',
      parseOverlap,
      parseOverlap('24h'),
    )
    .option(
      '--expires <days>',
      'days until the new token expires, or never (default: the lifetime of the old one)',
      parseLifetime,
    )
    .addOption(orgOption())
    .examples('tokens rotate 0199f3a8-5f1e-7c63-9a51-3d0f6f0b7c11 --overlap 1h')
    .run<RotateOptions>((options, [id = '']) =>
      withTable(options, async (table) => {
        const { token: old, access } = await findToken(table, id, options)
        const now = system.now()
        if (old.revokedAt || (old.expiresAt && Date.parse(old.expiresAt) <= now))
          throw new UserError(`Token ${id} has ended: ${describeStatus(old)}. Create another one instead.`)
        const { expires = lifetimeOf(old), overlap } = options
        const { name, scopes, agents, tenantId, rate } = old
        const given = { name, scopes, agents, tenantId, rate, expiresAt: toExpiry(expires, now) }
        const created = await create(table, { access, given })
        const afterSeconds = overlap === 0 ? undefined : overlap
        // Whatever becomes of the old one: nobody could read the new one later.
        const ended = await revoke(table, { access, tokenId: id, afterSeconds }).catch((error: Error) => ({
          ...old,
          problem: explainKept(error, id, options),
        }))
        const problem = 'problem' in ended ? ended.problem : null
        const replacedEndsAt = ended.revokedAt ?? ended.expiresAt
        const note = [
          `Created token "${name}", ${created.token.id}. ${describeExpiry(created.token)}`,
          problem?.message ??
            `The old one, ${id}, ${ended.revokedAt ? 'is revoked' : `stays valid until ${replacedEndsAt}`}.`,
          ...adviceOn(created.token, options),
        ].join('\n')
        const json = {
          ...toJson(created),
          replacedId: id,
          replacedEndsAt,
          ...(problem && { error: problem }),
        }
        return { json, text: created.text, note, hasFailed: problem !== null }
      }),
    )
}

function explainKept(error: Error, id: string, options: SharedOptions) {
  const command = formatCommand(options, `tokens revoke ${id}`)
  return {
    message: `The old one, ${id}, may still be valid, because it could not be ended: ${error.message} Once nothing uses it: ${command}`,
    ...(error instanceof ServiceError && { code: error.code }),
  }
}

/** What it was to be, in milliseconds; infinity for never. */
const lifetimeOf = ({ createdAt, expiresAt }: Token): number =>
  expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - Date.parse(createdAt)

/** With the access of an operator in its organization. @throws UserError */
async function findToken(table: OpenTable, id: string, options: SharedOptions) {
  const organizationId = options.org && (await findOrganization(table, options)).id
  const token = await table.stores.tokens.get({ id })
  if (token && (organizationId === undefined || token.organizationId === organizationId))
    return { token, access: operatorOf(token.organizationId) }
  throw new UserError(`Token ${id} not found. List tokens: ${formatCommand(options, 'tokens list')}`, {
    details: { code: 'TokenNotFound' },
  })
}

function addRevokeCommand(tokens: CliCommand): void {
  tokens
    .command('revoke')
    .description('Revoke an API token permanently.')
    .argument('<id>', "the token's ID, as shown by tokens list", parseUuid)
    .addOption(orgOption())
    .examples('tokens revoke 0199f3a8-5f1e-7c63-9a51-3d0f6f0b7c11')
    .run(async (options, [id = '']) => {
      await withTable(options, async (table) => {
        const { access } = await findToken(table, id, options)
        await revoke(table, { access, tokenId: id })
      })
      // API Gateway caches the authorizer's result for a minute (infra/api/api.ts).
      const effect = options.stack ? 'It stops working within one minute' : 'It no longer works'
      return { json: { id, revoked: true }, text: `Revoked token ${id}. ${effect}.` }
    })
}
