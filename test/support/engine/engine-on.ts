import { openStores, type Stores } from '../../../lib/dynamodb/open-stores.ts'
import type { Table } from '../../../lib/dynamodb/table/table.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'

/** For sweeps of tables without deliveries. */
export const NO_DELIVERIES = { deliveryQueue: { send: async () => undefined } }

/** An engine on one table, with the system's clock. */
export const engineOn = (table: Table): Engine & Stores => ({
  ...openStores(table),
  queue: { send: async () => undefined },
  system,
})

/** A worker receives a message of the execution. */
export const receive = (engine: Engine, id: string, wakes = false, receiveCount = 1) =>
  processMessage(engine, id, { message: { wakes, receiveCount, changeVisibility: async () => undefined } })
