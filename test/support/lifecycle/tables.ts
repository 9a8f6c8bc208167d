import type { Scheduler } from 'fast-check'
import type { Execution } from '../../../lib/core/execution.ts'
import { executionStore } from '../../../lib/dynamodb/execution-store.ts'
import { executionKey } from '../../../lib/dynamodb/keys.ts'
import { stepStore } from '../../../lib/dynamodb/step-store.ts'
import type { Item, Table } from '../../../lib/dynamodb/table.ts'
import type { Port } from './model.ts'

/** Both stores, for one execution: what runs before have left open is none of this one's. */
export function portOn(table: Table, { id }: Execution): Port {
  const store = executionStore(table)
  const listStale: Port['listStale'] = async (params) =>
    (await store.listStale(params)).filter((stale) => stale.id === id)
  return { ...store, ...stepStore(table), listStale }
}

/** All that is stored of an execution, by sort key. */
export async function itemsOf(table: Table, { id }: Execution): Promise<Map<unknown, Item>> {
  const { items } = await table.query({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': executionKey(id).pk },
    ConsistentRead: true,
  })
  return new Map(items.map((item) => [item.sk, item]))
}

/** A table whose requests wait for a scheduler, which lets one after the other through in an order of its own. */
export function scheduledTable(table: Table, scheduler: Scheduler): Table {
  return {
    ...table,
    get: scheduler.scheduleFunction(table.get),
    put: scheduler.scheduleFunction(table.put),
    update: scheduler.scheduleFunction(table.update),
    query: scheduler.scheduleFunction(table.query),
    delete: scheduler.scheduleFunction(table.delete),
    writeMany: scheduler.scheduleFunction(table.writeMany),
  }
}

/**
 * A table that answers a write as the SDK does when it has sent it twice because the first answer was lost: the first
 * was carried out, and it is the second that is answered. `between` is what others do meanwhile.
 */
export function resendingTable(
  table: Table,
  { isLost = () => true, between = async () => undefined }: Resending = {},
): Table {
  return {
    ...table,
    async put(item, condition) {
      if (isLost() && (await table.put(item, condition))) await between()
      return table.put(item, condition)
    },
    async update(key, change) {
      if (isLost() && (await table.update(key, change))) await between()
      return table.update(key, change)
    },
  }
}

type Resending = { isLost?: () => boolean; between?: () => Promise<unknown> }
