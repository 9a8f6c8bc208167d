import { newToken } from '../../lib/access/tokens.ts'
import { agentIdOf } from '../../lib/core/ids.ts'
import { organizationStore, tokenStore } from '../../lib/dynamodb/access-stores.ts'
import type { Table } from '../../lib/dynamodb/table/table.ts'
import { system } from '../../lib/system.ts'
import { type CreationTimes, storeExecutions } from '../../test/support/tables/listing-data.ts'
import { importItems } from './import-items.ts'
import { NO_OP } from './runs.ts'
import { publish, startService } from './service.ts'
import type { Workspace } from './workspace.ts'

const AGENTS = 10

/** `agentId`: the only agent that is published. */
export type Organization = { id: string; token: string; agentId: string; size: number } & CreationTimes

/** A service with an organization of each size: as many executions, of which `matchesOf` match each filter. */
export async function startWithExecutions(
  workspace: Workspace,
  sizes: number[],
  matchesOf: (size: number) => number,
) {
  const folder = await workspace.createFolder()
  const organizations = sizes.map((size) => ({ id: system.newId(), size, firstAt: 0, lastAt: 0 }))
  const storeAll = async (table: Table) => {
    for (const organization of organizations) {
      const { id: organizationId, size } = organization
      const own = agentIdOf(organizationId, NO_OP.slug)
      const agentIds = [own, ...Array.from({ length: AGENTS - 1 }, () => system.newId())]
      const data = { organizationId, agentIds, size, matches: matchesOf(size) }
      Object.assign(organization, await storeExecutions(table, data))
    }
  }
  const isImported = await importItems(workspace, folder, storeAll)
  const service = await startService(workspace, { folder, hasPort: true })
  if (!isImported) await storeAll(service.table)
  const ready = organizations.map(async (organization): Promise<Organization> => {
    return { ...organization, ...(await publishAgent(workspace, service.table, organization.id)) }
  })
  return { service, organizations: await Promise.all(ready) }
}

/** A new organization with one agent, and a token. */
export async function publishAgent(
  workspace: Workspace,
  table: Table,
  organizationId: string,
  agent: Omit<Parameters<typeof publish>[2], 'organizationId'> = NO_OP,
) {
  const createdAt = new Date().toISOString()
  await organizationStore(table).create({ organization: { id: organizationId, name: 'Bench', createdAt } })
  const creator = { organizationId, name: 'bench', createdBy: organizationId }
  const { token, text } = newToken({ system, ...creator, lifetimeMs: null })
  await tokenStore(table).create({ token })
  const { agentId } = await publish(workspace, table, { ...agent, organizationId })
  return { agentId, token: text }
}
