import { createHash } from 'node:crypto'
import type { JsonObject } from '../core/json/json.ts'
import { DEADLINE_MS } from '../core/limits.ts'
import type { ServedDeclarations } from '../core/model.ts'
import type {
  CacheEntry,
  CacheStore,
  DeclarationStore,
  IdempotencyStore,
  Reservation,
} from '../core/ports/caches.ts'
import { INTERVAL_MS } from '../core/usage.ts'
import { anyOf } from './table/expressions.ts'
import { cacheKey, declarationsKey, executionKey, idempotencyKey, type Key } from './table/keys.ts'
import { loadIfComplete, type StoredPayload, toInlinePayload } from './table/payload.ts'
import { timeToLive } from './table/retention.ts'
import { orCorrupt, readText, type StoredText, toStoredText } from './table/stored-text.ts'
import { type Condition, type Item, pick, type Table } from './table/table.ts'

/** Cache entries. An execution reserves a key while it runs, then stores its output. */
export function cacheStore(table: Table): CacheStore {
  return {
    async get({ key, now }) {
      const item = await table.get(cacheKey(key), { consistent: true })
      if (!item || isExpired(item, now)) return null
      const entry = await entryFromItem(table, item)
      // The execution with the output was deleted.
      return entry.output === null && item.isInRecord ? null : entry
    },

    async reserve({ key, executionId, replaces, now }) {
      // Long after the execution's own deadline.
      const item = { ...cacheKey(key), executionId, ...expiresAtMs(now + 2 * DEADLINE_MS) }
      const condition = replaces === null ? isFree(now) : anyOf(isFree(now), belongsTo(replaces))
      const own = { executionId, output: null }
      if (await table.put(item, condition)) return own
      // This execution's own if the response to a first write was lost. The entry may also have been deleted meanwhile.
      const found = await table.get(cacheKey(key), { consistent: true })
      return found ? entryFromItem(table, found) : own
    },

    async store({ key, executionId, output, expiresAt }) {
      const inline = toInlinePayload(JSON.stringify(output))
      const expiries = [expiresAt, table.expiryOf(executionId)].filter((expiry) => expiry !== null)
      const item = {
        ...cacheKey(key),
        executionId,
        ...(inline ? { output: inline } : { isInRecord: true }),
        ...(expiries.length > 0 && expiresAtMs(Math.min(...expiries))),
      }
      await table.put(item, belongsTo(executionId))
    },

    async drop({ key, executionId }) {
      await table.delete(cacheKey(key), belongsTo(executionId))
    },
  }
}

/** The entry exists and belongs to this execution: a deleted entry is not created again. */
export const belongsTo = (executionId: string): Condition => ({
  expression: '#executionId = :executionId',
  names: ['executionId'],
  values: { executionId },
})

/** DynamoDB deletes expired items within days. Readers check `expiresAt`. */
const expiresAtMs = (ms: number) => ({ expiresAt: ms, ...timeToLive(ms) })

const isExpired = ({ expiresAt }: Item, now: number) => typeof expiresAt === 'number' && expiresAt <= now

/** A large output is read from its execution: the entry has no chunks that could outlive a deletion. */
async function entryFromItem(table: Table, item: Item): Promise<CacheEntry> {
  const executionId = String(item.executionId)
  const holder = item.isInRecord ? await table.get(executionKey(executionId), { consistent: true }) : item
  const stored = holder?.output as StoredPayload | undefined
  const output = stored ? await loadIfComplete(table, holder as Item & Key, stored) : null
  return { executionId, output: output as JsonObject | null }
}

/** Idempotency keys of clients, each bound to the execution of its first request. */
export function idempotencyStore(table: Table): IdempotencyStore {
  return {
    async reserve({ agentId, key, executionId, requestHash, now, expiresAt }) {
      const id = createHash('sha256').update(`${agentId}\n${key}`).digest('hex')
      const item = { ...idempotencyKey(id), executionId, requestHash, ...expiresAtMs(expiresAt) }
      const own = { id, executionId, requestHash }
      if (await table.put(item, isFree(now))) return own
      const kept = await table.get(idempotencyKey(id), { consistent: true })
      // A batch, and with it the key, may have been deleted meanwhile.
      return { ...own, ...pick((kept ?? own) as Reservation, ['executionId', 'requestHash', 'isDeleted']) }
    },
  }
}

/** There is no entry, or it has expired. */
const isFree = (now: number): Condition => ({
  expression: 'attribute_not_exists(pk) OR #expiresAt <= :now',
  names: ['expiresAt'],
  values: { now },
})

/** Below DynamoDB's limit of 400 KB for an item. No model takes as much as has this size when it is compressed. */
const MAX_BYTES = 380_000

/** Written again by each process and day that use them, so that they are kept as long as executions refer to them. */
export function declarationStore(table: Table): DeclarationStore {
  return {
    async put({ organizationId, hash, declarations, now }) {
      const content = toStoredText(JSON.stringify(declarations))
      if (typeof content !== 'string' && content.gzip.length > MAX_BYTES) return
      await table.put({
        ...declarationsKey(organizationId, hash),
        content,
        usedUntil: now + INTERVAL_MS.day,
      })
    },

    async get({ organizationId, hash }) {
      const key = declarationsKey(organizationId, hash)
      const item = await table.get(key, { consistent: true })
      if (!item) return null
      const json = readText(item.content as StoredText, key)
      return orCorrupt(key, () => JSON.parse(json) as ServedDeclarations)
    },
  }
}
