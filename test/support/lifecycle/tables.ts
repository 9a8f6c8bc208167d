import type { Scheduler } from 'fast-check'
import type { Execution } from '../../../lib/core/execution.ts'
import { FOLD_DELAY_MS } from '../../../lib/core/usage.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { stepStore } from '../../../lib/dynamodb/executions/step-store.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import type { Item, Table } from '../../../lib/dynamodb/table/table.ts'
import { usageStore } from '../../../lib/dynamodb/usage-store.ts'
import { itemsIn } from '../tables/items-in.ts'
import { wrapTable } from '../tables/wrap-table.ts'
import type { Port } from './reference-model.ts'

/** The stores, restricted to one execution: stale executions of other tests are not listed. */
export function storePort(table: Table, { id }: Execution): Port {
  const store = executionStore(table)
  const listStale: Port['listStale'] = async (params) =>
    (await store.listStale(params)).filter((stale) => stale.id === id)
  return { ...store, ...stepStore(table), listStale }
}

/** Every item of an execution, by sort key. */
export async function readItems(table: Table, { id }: Execution): Promise<Map<string, Item>> {
  return new Map((await itemsIn(table, executionKey(id).pk)).map((item) => [String(item.sk), item]))
}

/** Says that the usage of all executions is counted that a sweep at this time would count. */
export const setCounted = (table: Table, now: number): Promise<void> =>
  usageStore(table).setPosition({ position: { minute: now - FOLD_DELAY_MS, hour: 0, day: 0 } })

/** A table whose requests run one at a time, in the order that the scheduler chooses. */
export const scheduledTable = (table: Table, scheduler: Scheduler): Table =>
  wrapTable(table, (_, send) => scheduler.scheduleFunction(send))

/**
 * A table whose writes are sent twice, as by the SDK when the first response is lost: the first write is carried out,
 * the second one's result is returned. `between` runs between the two.
 */
export function retryingTable(
  table: Table,
  { isResponseLost = () => true, between = async () => undefined }: Retrying = {},
): Table {
  return {
    ...table,
    async put(item, condition) {
      if (isResponseLost() && (await table.put(item, condition))) await between()
      return table.put(item, condition)
    },
    async update(key, change) {
      if (isResponseLost() && (await table.update(key, change))) await between()
      return table.update(key, change)
    },
  }
}

type Retrying = { isResponseLost?: () => boolean; between?: () => Promise<unknown> }
