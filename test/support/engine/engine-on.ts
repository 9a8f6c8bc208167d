import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { system } from '../../../lib/system.ts'

/** An engine on one table, with the system's clock. */
export const engineOn = (table: Table): Engine => ({
  ...openStores(table),
  queue: { send: async () => undefined },
  system,
})
