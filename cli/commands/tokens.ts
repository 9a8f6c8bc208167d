import type { Command } from 'commander'
import { addCreateToken } from './create-token.ts'
import { addListTokens } from './list-tokens.ts'
import { addRevokeToken } from './revoke-token.ts'

export function addTokens(program: Command): void {
  const tokens = program.command('tokens').description("Manages an organization's API tokens.")
  for (const add of [addCreateToken, addListTokens, addRevokeToken]) add(tokens)
}
