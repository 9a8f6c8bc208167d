import { organizationStore } from '../../lib/dynamodb/organization-store.ts'
import type { Table } from '../../lib/dynamodb/table/table.ts'
import { tokenStore } from '../../lib/dynamodb/token-store.ts'
import { system } from '../../lib/system.ts'
import { newToken } from '../../lib/tokens/token.ts'

/** Creates an organization with a token. */
export async function createOrganization(table: Table): Promise<{ id: string; token: string }> {
  const id = system.newId()
  const createdAt = new Date().toISOString()
  await organizationStore(table).create({ organization: { id, name: 'Test', createdAt } })
  const created = newToken({ system, organizationId: id, name: 'test', createdBy: id, lifetimeMs: null })
  await tokenStore(table).create({ token: created.token })
  return { id, token: created.text }
}
