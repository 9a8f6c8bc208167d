import { createHash } from 'node:crypto'
import type { IdempotencyStore, Reservation } from '../core/ports.ts'
import { idempotencyKey } from './table/keys.ts'
import { timeToLive } from './table/retention.ts'
import type { Item, Table } from './table/table.ts'

/** Idempotency keys of clients, each bound to the execution of its first request. */
export function idempotencyStore(table: Table): IdempotencyStore {
  return {
    async reserve({ agentId, key, executionId, requestHash, now, expiresAt }) {
      const id = createHash('sha256').update(`${agentId}\n${key}`).digest('hex')
      const item = {
        ...idempotencyKey(id),
        executionId,
        requestHash,
        expiresAt,
        // DynamoDB deletes expired items within days. The condition checks `expiresAt`.
        ...timeToLive(expiresAt),
      }
      const isFree = {
        expression: 'attribute_not_exists(pk) OR #expiresAt <= :now',
        names: ['expiresAt'],
        values: { now },
      }
      if (await table.put(item, isFree)) return { id, executionId, requestHash }
      const kept = await table.get(idempotencyKey(id), { consistent: true })
      // The execution, and with it the key, may have been deleted meanwhile.
      return kept ? fromItem(id, kept) : { id, executionId, requestHash }
    },
  }
}

function fromItem(id: string, item: Item): Reservation {
  return { id, executionId: String(item.executionId), requestHash: String(item.requestHash) }
}
