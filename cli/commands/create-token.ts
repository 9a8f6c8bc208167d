import type { Command } from 'commander'
import { system } from '../../lib/system.ts'
import { newToken } from '../../lib/tokens/token.ts'
import { operatorId } from '../../local/development.ts'
import { chooseOrganization } from '../choose-organization.ts'
import { commandLine, examples } from '../command-line.ts'
import { orgOption, toLifetime, toName } from '../options.ts'
import { answering } from '../output.ts'
import { withStore } from '../store.ts'

type Options = { name: string; expires?: number }

export function addCreateToken(tokens: Command): void {
  tokens
    .command('create')
    .description('Makes an API token and shows it, once.')
    .requiredOption('--name <text>', 'what it is for, to know it by in the list', toName)
    .option('--expires <days>', 'days until it stops working; never by default', toLifetime)
    .addOption(orgOption())
    .addHelpText('after', examples('tokens create --name ci --expires 90'))
    .action(
      answering<Options>(async (options) => {
        const { organization, created } = await withStore(options, async (store) => {
          const organization = await chooseOrganization(store, options)
          const created = newToken({
            system,
            organizationId: organization.id,
            name: options.name,
            createdBy: operatorId(),
            lifetimeMs: options.expires ?? null,
          })
          await store.tokens.create({ token: created.token })
          return { organization, created }
        })
        const { id, organizationId, name, expiresAt } = created.token
        const note = [
          `Token "${name}" of ${organization.name}, ${expiresAt ? `good until ${expiresAt}` : 'without an end'}.`,
          'Keep it now: it is not shown again. Send it as the header "Authorization: Bearer <token>".',
          `Revoke it: ${commandLine(options, `tokens revoke ${id}`)}`,
        ].join('\n')
        return {
          json: { id, token: created.text, organizationId, name, expiresAt },
          text: created.text,
          note,
        }
      }),
    )
}
