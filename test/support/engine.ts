import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { cacheStore } from '../../lib/dynamodb/cache-store.ts'
import { executionStore } from '../../lib/dynamodb/execution-store.ts'
import { stepStore } from '../../lib/dynamodb/step-store.ts'
import type { Table } from '../../lib/dynamodb/table.ts'
import type { Engine } from '../../lib/engine/engine.ts'
import { system } from '../../lib/system.ts'

/** An engine whose stores are all on one table, with the real clock. */
export const engineOn = (table: Table): Engine => ({
  agents: agentStore(table),
  executions: executionStore(table),
  steps: stepStore(table),
  cache: cacheStore(table),
  system,
})
