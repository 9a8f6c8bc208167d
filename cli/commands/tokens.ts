import { newToken } from '../../lib/access/tokens.ts'
import { SCOPES, type Scope, type TokenLimits } from '../../lib/core/access.ts'
import type { Token } from '../../lib/core/agent.ts'
import { agentIdFrom } from '../../lib/core/ids.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import { system } from '../../lib/system.ts'
import { operatorId } from '../../local/development.ts'
import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { findOrganization, readAllPages } from '../find.ts'
import { formatCommand, relativeTime, textTable } from '../format.ts'
import {
  DEFAULT_LIFETIME_DAYS,
  orgOption,
  parseAgents,
  parseAs,
  parseLifetime,
  parseName,
  parseRate,
  parseScopes,
  parseUuid,
} from '../options.ts'
import { withStores } from '../stores.ts'

export function addTokensCommand(program: CliCommand): void {
  const tokens = program.command('tokens').description("Manage an organization's API tokens.")
  addCreateCommand(tokens)
  addListCommand(tokens)
  addRevokeCommand(tokens)
}

/** Those that most clients need: they neither delete nor publish. */
const DEFAULT_SCOPES: Scope[] = ['run', 'read']

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
      `days until the token expires, or never (default: ${DEFAULT_LIFETIME_DAYS})`,
      parseLifetime,
      parseLifetime(String(DEFAULT_LIFETIME_DAYS)),
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
    .runInOrganization<CreateOptions>(async (stores, organization, options) => {
      const { scopes, agents = null, tenant: tenantId = null, rate = null } = options
      const limits: TokenLimits = { scopes, agents, tenantId, rate }
      const { token, text } = newToken({
        system,
        organizationId: organization.id,
        name: options.name,
        createdBy: operatorId(),
        lifetimeMs: Number.isFinite(options.expires) ? options.expires : null,
        ...limits,
      })
      await stores.tokens.create({ token })
      const { id, organizationId, name, expiresAt } = token
      const missing = await findMissingAgents(stores, token)
      const note = [
        `Created token "${name}" for ${organization.name}. It ${expiresAt ? `expires on ${expiresAt}` : 'never expires'}.`,
        `Scopes: ${describeScopes(token)}. Limits: ${describeLimits(token)}.`,
        ...(scopes === DEFAULT_SCOPES ? ['For more scopes, create one with --scopes run,read,manage.'] : []),
        ...missing.map((agent) => `Warning: the organization has no agent ${agent} yet.`),
        'Save it now: it is not shown again. Send it in the header "Authorization: Bearer <token>".',
        `Revoke it: ${formatCommand(options, `tokens revoke ${id}`)}`,
      ].join('\n')
      const set = Object.entries(limits).filter(([, value]) => value !== null)
      const json = { id, token: text, organizationId, name, expiresAt, ...Object.fromEntries(set) }
      return { json, text, note }
    })
}

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
    .runInOrganization(async (stores, { id: organizationId, name }, options) => {
      const tokens = await readAllPages((page) => stores.tokens.list({ organizationId, ...page }))
      const rows = tokens.map(toRow)
      const empty = `${name} has no tokens. Create one: ${formatCommand(options, 'tokens create --name <text>')}`
      return {
        json: tokens.map(({ hash: _, ...record }) => record),
        text: textTable(COLUMNS, rows, empty),
      }
    })
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

function addRevokeCommand(tokens: CliCommand): void {
  tokens
    .command('revoke')
    .description('Revoke an API token permanently.')
    .argument('<id>', "the token's ID, as shown by tokens list", parseUuid)
    .addOption(orgOption())
    .examples('tokens revoke 0199f3a8-5f1e-7c63-9a51-3d0f6f0b7c11')
    .run(async (options, [id = '']) => {
      const isRevoked = await withStores(options, async (stores) => {
        const organizationId = options.org ? (await findOrganization(stores, options)).id : null
        const revokedAt = new Date(system.now()).toISOString()
        return stores.tokens.revoke({ organizationId, id, revokedAt })
      })
      if (!isRevoked) {
        throw new UserError(`Token ${id} not found. List tokens: ${formatCommand(options, 'tokens list')}`, {
          details: { code: 'TokenNotFound' },
        })
      }
      // API Gateway caches the authorizer's result for a minute (infra/api/api.ts).
      const effect = options.stack ? 'It stops working within one minute' : 'It no longer works'
      return { json: { id, revoked: true }, text: `Revoked token ${id}. ${effect}.` }
    })
}
