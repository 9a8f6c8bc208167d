import { agentStore } from './agent-store.ts'
import { cacheStore } from './cache-store.ts'
import { executionStore } from './execution-store.ts'
import { idempotencyStore } from './idempotency-store.ts'
import { organizationStore } from './organization-store.ts'
import { rateStore } from './rate-store.ts'
import { stepStore } from './step-store.ts'
import { openTable, type Table } from './table/table.ts'
import { tokenStore } from './token-store.ts'

export type Stores = ReturnType<typeof openStores>

/**
 * All stores, on one table. A function that needs one store bundles all of them: 16 KB more, and no measurable load time
 * (docs/decisions/0015).
 */
export const openStores = (table: Table = openTable()) => ({
  agents: agentStore(table),
  executions: executionStore(table),
  steps: stepStore(table),
  cache: cacheStore(table),
  idempotency: idempotencyStore(table),
  organizations: organizationStore(table),
  rates: rateStore(table),
  tokens: tokenStore(table),
})
