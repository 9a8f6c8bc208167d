import type { Command } from 'commander'
import type { Token } from '../../lib/core/agent.ts'
import { system } from '../../lib/system.ts'
import { newToken } from '../../lib/tokens/token.ts'
import { operatorId } from '../../local/development.ts'
import { UserError } from '../errors.ts'
import { findOrganization, readAllPages, withOrganization } from '../find.ts'
import { formatCommand, formatExamples, relativeTime, textTable } from '../format.ts'
import { orgOption, parseLifetime, parseName, parseUuid } from '../options.ts'
import { toAction } from '../output.ts'
import { withStores } from '../stores.ts'

export function addTokensCommand(program: Command): void {
  const tokens = program.command('tokens').description("Manage an organization's API tokens.")
  addCreateCommand(tokens)
  addListCommand(tokens)
  addRevokeCommand(tokens)
}

function addCreateCommand(tokens: Command): void {
  tokens
    .command('create')
    .description('Create an API token. The token is shown only once.')
    .requiredOption('--name <text>', 'name that identifies the token in lists', parseName)
    .option('--expires <days>', 'days until the token expires; by default it never does', parseLifetime)
    .addOption(orgOption())
    .addHelpText('after', formatExamples('tokens create --name ci --expires 90'))
    .action(
      toAction<{ name: string; expires?: number }>((options) =>
        withOrganization(options, async (stores, organization) => {
          const { token, text } = newToken({
            system,
            organizationId: organization.id,
            name: options.name,
            createdBy: operatorId(),
            lifetimeMs: options.expires ?? null,
          })
          await stores.tokens.create({ token })
          const { id, organizationId, name, expiresAt } = token
          const note = [
            `Created token "${name}" for ${organization.name}. It ${expiresAt ? `expires on ${expiresAt}` : 'never expires'}.`,
            'Save it now: it is not shown again. Send it in the header "Authorization: Bearer <token>".',
            `Revoke it: ${formatCommand(options, `tokens revoke ${id}`)}`,
          ].join('\n')
          return { json: { id, token: text, organizationId, name, expiresAt }, text, note }
        }),
      ),
    )
}

function addListCommand(tokens: Command): void {
  tokens
    .command('list')
    .description("List an organization's API tokens, newest first, without their secrets.")
    .addOption(orgOption())
    .addHelpText('after', formatExamples('tokens list'))
    .action(
      toAction((options) =>
        withOrganization(options, async (stores, { id: organizationId, name }) => {
          const tokens = await readAllPages((page) => stores.tokens.list({ organizationId, ...page }))
          const rows = tokens.map((token) => [
            token.id,
            token.name,
            describeStatus(token),
            relativeTime(token.createdAt),
          ])
          const text =
            rows.length > 0
              ? textTable(['TOKEN', 'NAME', 'STATUS', 'CREATED'], rows)
              : `${name} has no tokens. Create one: ${formatCommand(options, 'tokens create --name <text>')}`
          return { json: tokens.map(({ hash: _, ...record }) => record), text }
        }),
      ),
    )
}

function describeStatus({ revokedAt, expiresAt }: Token): string {
  if (revokedAt) return `revoked ${relativeTime(revokedAt)}`
  if (!expiresAt) return 'valid'
  return Date.parse(expiresAt) <= Date.now()
    ? `expired ${relativeTime(expiresAt)}`
    : `valid, expires ${relativeTime(expiresAt)}`
}

function addRevokeCommand(tokens: Command): void {
  tokens
    .command('revoke')
    .description('Revoke an API token permanently.')
    .argument('<id>', "the token's ID, as shown by tokens list", parseUuid)
    .addOption(orgOption())
    .addHelpText('after', formatExamples('tokens revoke 0199f3a8-5f1e-7c63-9a51-3d0f6f0b7c11'))
    .action(
      toAction(async (options, [argument = '']) => {
        const id = argument.toLowerCase()
        const isRevoked = await withStores(options, async (stores) => {
          const organizationId = options.org ? (await findOrganization(stores, options)).id : null
          const revokedAt = new Date(system.now()).toISOString()
          return stores.tokens.revoke({ organizationId, id, revokedAt })
        })
        if (!isRevoked) {
          throw new UserError(
            `Token ${id} not found. List tokens: ${formatCommand(options, 'tokens list')}`,
            {
              details: { code: 'TokenNotFound' },
            },
          )
        }
        // API Gateway caches the authorizer's result for a minute (infra/api/api.ts).
        const effect = options.stack ? 'It stops working within one minute' : 'It no longer works'
        return { json: { id, revoked: true }, text: `Revoked token ${id}. ${effect}.` }
      }),
    )
}
