import type { Command } from 'commander'
import { system } from '../../lib/system.ts'
import { chooseOrganization } from '../choose-organization.ts'
import { commandLine, examples } from '../command-line.ts'
import { orgOption, toUuid } from '../options.ts'
import { answering, type Shared } from '../output.ts'
import { withStore } from '../store.ts'
import { UserError } from '../user-error.ts'

export function addRevokeToken(tokens: Command): void {
  tokens
    .command('revoke')
    .description('Makes an API token stop working, for good.')
    .argument('<id>', "the token's id, as tokens list shows it", toUuid)
    .addOption(orgOption())
    .addHelpText('after', examples('tokens revoke 0199f3a8-5f1e-7c63-9a51-3d0f6f0b7c11'))
    .action(
      answering(async (options, [given = '']) => {
        const id = given.toLowerCase()
        await withStore(options, async (store) => {
          const organizationId = options.org ? (await chooseOrganization(store, options)).id : null
          const revokedAt = new Date(system.now()).toISOString()
          if (await store.tokens.revoke({ organizationId, id, revokedAt })) return
          const list = commandLine(options, 'tokens list')
          const details = { code: 'TokenNotFound' }
          throw new UserError(`There is no token ${id}. See which there are: ${list}`, { details })
        })
        return { json: { id, revoked: true }, text: `Revoked ${id}: ${effect(options)}.` }
      }),
    )
}

/** API Gateway keeps what its authorizer answered for a minute (`infra/api/api.ts`). */
function effect({ stack }: Shared): string {
  return stack ? 'within a minute it works no more' : 'it works no more'
}
