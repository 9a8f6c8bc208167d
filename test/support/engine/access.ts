import { newToken } from '../../../lib/access/tokens.ts'
import type { TokenLimits } from '../../../lib/core/access.ts'
import { organizationStore, tokenStore } from '../../../lib/dynamodb/access-stores.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'

/** Creates an organization with a token. */
export async function createOrganization(table: Table): Promise<{ id: string; token: string }> {
  const id = system.newId()
  const createdAt = new Date().toISOString()
  await organizationStore(table).create({ organization: { id, name: 'Test', createdAt } })
  return { id, token: await createToken(table, id) }
}

/** Creates a token of an organization, without limits by default. */
export async function createToken(
  table: Table,
  organizationId: string,
  limits: Partial<TokenLimits> = {},
): Promise<string> {
  const { token, text } = newToken({
    system,
    organizationId,
    name: 'test',
    createdBy: organizationId,
    lifetimeMs: null,
    ...limits,
  })
  await tokenStore(table).create({ token })
  return text
}
