import type { RateStore } from '../core/ports.ts'
import { largeBodiesKey, rateKey } from './table/keys.ts'
import { timeToLive } from './table/retention.ts'
import type { Table } from './table/table.ts'

/** Long enough for clocks that differ; DynamoDB deletes the counters within days. */
const KEPT_MS = 60_000

/**
 * Requests of tokens with a rate, one counter per token and second, and bytes in large bodies, one counter per organization and
 * minute. Each is written once per request and never read.
 */
export function rateStore(table: Table): RateStore {
  return {
    async count({ tokenId, second }) {
      const item = await table.update(rateKey(tokenId, second), {
        set: timeToLive(second * 1000 + KEPT_MS),
        add: { requests: 1 },
      })
      return Number(item?.requests)
    },

    async addBytes({ organizationId, minute, bytes }) {
      const item = await table.update(largeBodiesKey(organizationId, minute), {
        set: timeToLive((minute + 1) * 60_000 + KEPT_MS),
        add: { bytes },
      })
      return Number(item?.bytes)
    },
  }
}
