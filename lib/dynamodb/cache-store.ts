import type { JsonObject } from '../core/json.ts'
import { DEADLINE_MS } from '../core/limits.ts'
import type { CacheEntry, CacheStore } from '../core/ports.ts'
import { cacheKey } from './keys.ts'
import { loadPayload, type StoredPayload, storePayload } from './payload.ts'
import { timeToLive } from './retention.ts'
import type { Condition, Item, Table } from './table.ts'

/** What a cache key leads to: the execution that is at work for it, then its output. */
export function cacheStore(table: Table): CacheStore {
  return {
    async get({ key, now }) {
      const item = await table.get(cacheKey(key), { consistent: true })
      return item && !isExpired(item, now) ? fromItem(table, item) : null
    },

    async reserve({ key, executionId, replaces, now }) {
      // Long after the execution's own deadline: nothing reads such an entry any more.
      const item = { ...cacheKey(key), executionId, ...validUntil(now + 2 * DEADLINE_MS) }
      const isFree: Condition = {
        expression: `attribute_not_exists(pk) OR #expiresAt <= :now${replaces === null ? '' : ' OR #executionId = :replaces'}`,
        names: ['expiresAt', ...(replaces === null ? [] : ['executionId'])],
        values: { now, ...(replaces !== null && { replaces }) },
      }
      const own = { executionId, output: null }
      if (await table.put(item, isFree)) return own
      // Also its own, when the answer to the first write was lost. Gone in between: then nobody is at work.
      const found = await table.get(cacheKey(key), { consistent: true })
      return found ? fromItem(table, found) : own
    },

    async store({ key, executionId, output, expiresAt }) {
      const stored = await storePayload(table, executionId, 'cache', output)
      const ends = [expiresAt, table.keptUntil(executionId)].filter((end) => end !== null)
      const item = {
        ...cacheKey(key),
        executionId,
        output: stored,
        ...(ends.length > 0 && validUntil(Math.min(...ends))),
      }
      await table.put(item, isOf(executionId))
    },

    async drop({ key, executionId }) {
      await table.delete(cacheKey(key), isOf(executionId))
    },
  }
}

/** The condition of an entry that leads to this execution: one that was deleted must not come back. */
export const isOf = (executionId: string): Condition => ({
  expression: '#executionId = :executionId',
  names: ['executionId'],
  values: { executionId },
})

/** DynamoDB deletes what is past its time within days, so the time itself is looked at too. */
const validUntil = (ms: number) => ({ expiresAt: ms, ...timeToLive(ms) })

const isExpired = ({ expiresAt }: Item, now: number) => typeof expiresAt === 'number' && expiresAt <= now

async function fromItem(table: Table, item: Item): Promise<CacheEntry> {
  const executionId = String(item.executionId)
  const stored = item.output as StoredPayload | undefined
  const output = stored ? ((await loadPayload(table, executionId, stored)) as JsonObject) : null
  return { executionId, output }
}
