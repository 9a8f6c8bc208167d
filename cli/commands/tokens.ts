import { AgentError, type Client, type Token } from '../../clients/typescript/src/index.ts'
import { DEFAULT_SCOPES, SCOPES, type Scope, TOKEN_LIFETIME_DAYS } from '../../lib/core/access.ts'
import type { CliCommand } from '../command.ts'
import { type Connection, withConnection } from '../connect.ts'
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
    .runConnected<CreateOptions>('manage', 'create the token', async ({ client, organization, options }) => {
      const { name, expires, scopes, agents, tenant: tenantId, rate } = options
      const limits = { scopes, agents, tenantId, rate }
      const created = await client.createToken({ name, expiresAt: toExpiry(expires), ...limits })
      const missing = await findMissingAgents(client, created)
      const note = [
        `Created token "${name}"${organization ? ` for ${organization.name}` : ''}. ${describeExpiry(created)}`,
        `Scopes: ${created.scopes.join(', ')}. Limits: ${describeLimits(created)}.`,
        ...(scopes === DEFAULT_SCOPES ? ['For more scopes, create one with --scopes run,read,manage.'] : []),
        ...missing.map((agent) => `Warning: the organization has no agent ${agent} yet.`),
        ...adviceOn(created, options),
      ].join('\n')
      return { json: created, text: created.token, note }
    })
}

/** @param lifetimeMs infinity for never */
const toExpiry = (lifetimeMs: number): string | null =>
  Number.isFinite(lifetimeMs) ? new Date(Date.now() + lifetimeMs).toISOString() : null

const describeExpiry = ({ expiresAt }: Token): string =>
  `It ${expiresAt ? `expires on ${expiresAt}` : 'never expires'}.`

const adviceOn = ({ id }: Token, options: SharedOptions): string[] => [
  'Save it now: it is not shown again. Send it in the header "Authorization: Bearer <token>".',
  `Revoke it: ${formatCommand(options, `tokens revoke ${id}`)}`,
]

async function findMissingAgents(client: Client, { agents }: Token): Promise<string[]> {
  const missing = (agents ?? []).map((agent) =>
    client.agent(agent).then(
      () => [],
      () => [agent],
    ),
  )
  return (await Promise.all(missing)).flat()
}

function addListCommand(tokens: CliCommand): void {
  tokens
    .command('list')
    .description("List an organization's API tokens, newest first, without their secrets.")
    .examples('tokens list')
    .runConnected('manage', 'list tokens', async ({ client, options }) => {
      const tokens = await readAll(client.tokens({ limit: 100 }))
      const create = formatCommand(options, 'tokens create --name <text>')
      const empty = `The organization has no tokens. Create one: ${create}`
      return { json: tokens, text: textTable(COLUMNS, tokens.map(toRow), empty) }
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
  token.scopes.join(', '),
  describeLimits(token),
]

/** `2026-11-22 14:00 UTC`: no more is known of a last use. */
const toHour = (timestamp: string) => `${timestamp.slice(0, 16).replace('T', ' ')} UTC`

function describeLimits({ agents, tenantId, rate }: Token): string {
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

type RotateOptions = { overlap: number; expires?: number }

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
    .examples('tokens rotate 0199f3a8-5f1e-7c63-9a51-3d0f6f0b7c11 --overlap 1h')
    .overHttp('manage')
    .addOption(orgOption())
    .run<RotateOptions>((options, [id = '']) =>
      withOwner(id, options, 'replace the token', async ({ client }) => {
        const old = (await readAll(client.tokens({ limit: 100 }))).find((token) => token.id === id)
        if (!old) throw notFound(id, options)
        if (old.revokedAt || (old.expiresAt && Date.parse(old.expiresAt) <= Date.now()))
          throw new UserError(`Token ${id} has ended: ${describeStatus(old)}. Create another one instead.`)
        const { expires = lifetimeOf(old), overlap } = options
        const { name, scopes, agents, tenantId, rate } = old
        const limits = { scopes, agents, tenantId, rate }
        const created = await client.createToken({ name, expiresAt: toExpiry(expires), ...limits })
        // Whatever becomes of the old one: nobody could read the new one later.
        const ending = client.revokeToken(id, overlap === 0 ? {} : { afterSeconds: overlap })
        const result = await ending.catch((error: Error) => ({
          ...old,
          problem: explainKept(error, id, options),
        }))
        const problem = 'problem' in result ? result.problem : null
        const replacedEndsAt = result.revokedAt ?? result.expiresAt
        const note = [
          `Created token "${name}", ${created.id}. ${describeExpiry(created)}`,
          problem?.message ??
            `The old one, ${id}, ${result.revokedAt ? 'is revoked' : `stays valid until ${replacedEndsAt}`}.`,
          ...adviceOn(created, options),
        ].join('\n')
        const json = { ...created, replacedId: id, replacedEndsAt, ...(problem && { error: problem }) }
        return { json, text: created.token, note, hasFailed: problem !== null }
      }),
    )
}

function explainKept(error: Error, id: string, options: SharedOptions) {
  const command = formatCommand(options, `tokens revoke ${id}`)
  return {
    message: `The old one, ${id}, may still be valid, because it could not be ended: ${error.message} Once nothing uses it: ${command}`,
    ...(error instanceof AgentError && { code: error.code }),
  }
}

/** What it was to be, in milliseconds; infinity for never. */
const lifetimeOf = ({ createdAt, expiresAt }: Token): number =>
  expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - Date.parse(createdAt)

/** Works in the organization of a token. On a table, its ID says which. @throws UserError */
const withOwner = <T>(
  id: string,
  options: SharedOptions,
  action: string,
  work: (connection: Connection) => Promise<T>,
): Promise<T> =>
  withConnection(options, action, work, async ({ tokens }) => {
    const token = await tokens.get({ id })
    if (!token) throw notFound(id, options)
    return token.organizationId
  })

const notFound = (id: string, options: SharedOptions) =>
  new UserError(`Token ${id} not found. List tokens: ${formatCommand(options, 'tokens list')}`, {
    details: { code: 'TokenNotFound' },
  })

function addRevokeCommand(tokens: CliCommand): void {
  tokens
    .command('revoke')
    .description('Revoke an API token permanently.')
    .argument('<id>', "the token's ID, as shown by tokens list", parseUuid)
    .examples('tokens revoke 0199f3a8-5f1e-7c63-9a51-3d0f6f0b7c11')
    .overHttp('manage')
    .addOption(orgOption())
    .run((options, [id = '']) =>
      withOwner(id, options, 'revoke the token', async ({ client }) => {
        await client.revokeToken(id)
        // API Gateway caches the authorizer's result for a minute (infra/api/api.ts).
        const isRemote = options.stack !== undefined || options.url !== undefined
        const effect = isRemote ? 'It stops working within one minute' : 'It no longer works'
        return { json: { id, revoked: true }, text: `Revoked token ${id}. ${effect}.` }
      }),
    )
}
