import type { Command } from 'commander'
import type { Token } from '../../lib/core/agent.ts'
import { chooseOrganization } from '../choose-organization.ts'
import { commandLine, examples } from '../command-line.ts'
import { orgOption } from '../options.ts'
import { answering } from '../output.ts'
import { readAll } from '../read-all.ts'
import { relativeTime } from '../relative-time.ts'
import { withStore } from '../store.ts'
import { textTable } from '../text-table.ts'
import { toTokenRecord } from '../token-record.ts'

export function addListTokens(tokens: Command): void {
  tokens
    .command('list')
    .description("Lists an organization's API tokens, newest first, without what is secret about them.")
    .addOption(orgOption())
    .addHelpText('after', examples('tokens list'))
    .action(
      answering(async (options) => {
        const { organization, tokens } = await withStore(options, async (store) => {
          const organization = await chooseOrganization(store, options)
          const organizationId = organization.id
          return {
            organization,
            tokens: await readAll((page) => store.tokens.list({ organizationId, ...page })),
          }
        })
        const rows = tokens.map((token) => [
          token.id,
          token.name,
          standing(token),
          relativeTime(token.createdAt),
        ])
        const none = `${organization.name} has no tokens. Make one: ${commandLine(options, 'tokens create --name <text>')}`
        const text = textTable(['TOKEN', 'NAME', 'STATUS', 'CREATED'], rows)
        return { json: tokens.map(toTokenRecord), text: tokens.length > 0 ? text : none }
      }),
    )
}

function standing({ revokedAt, expiresAt }: Token): string {
  if (revokedAt) return `revoked ${relativeTime(revokedAt)}`
  if (!expiresAt) return 'valid'
  return Date.parse(expiresAt) <= Date.now()
    ? `expired ${relativeTime(expiresAt)}`
    : `valid, expires ${relativeTime(expiresAt)}`
}
