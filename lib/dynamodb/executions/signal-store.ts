import { randomUUID } from 'node:crypto'
import { parseStoredJson } from '../../core/json/parse-json.ts'
import { MAX_UNREAD_SIGNALS } from '../../core/limits.ts'
import type { SignalCount, SignalStore } from '../../core/ports/waits.ts'
import type { Signal } from '../../core/wait.ts'
import {
  executionKey,
  type Key,
  SIGNAL_PREFIX,
  signalCountKey,
  signalIdOf,
  signalKey,
} from '../table/keys.ts'
import { deletePayload, loadIfComplete, type StoredPayload, storePayload } from '../table/payload.ts'
import { type Condition, type Item, NOT_EXISTS, pick, queryPages, type Table } from '../table/table.ts'

/** Executions with fewer signals have no count: most of them, which a count would cost a write more per signal. */
const UNCOUNTED_SIGNALS = 10

/**
 * Signals of executions: an item each, with its data. Of a used one whose id its sender chose, the item stays, without
 * data. An execution with many of them has an item that counts them, so that a signal is not stored at the price of
 * reading all others.
 */
export function signalStore(table: Table): SignalStore {
  const ofExecution = (executionId: string) => ({
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ExpressionAttributeValues: { ':pk': executionKey(executionId).pk, ':prefix': SIGNAL_PREFIX },
    ConsistentRead: true,
  })

  const load = async (item: Item): Promise<Signal | null> =>
    loadIfComplete(
      table,
      item as Key,
      item.content as StoredPayload,
      parseStoredJson,
    ) as Promise<Signal | null>

  async function find(executionId: string, id: string) {
    const item = await table.get(signalKey(executionId, id), {
      consistent: true,
      attributes: ['pk', 'dataHash'],
    })
    return item && { id, ...pick(item as { dataHash?: string }, ['dataHash']) }
  }

  return {
    async put({ executionId, signal: { dataHash, ...signal } }) {
      const { id, bytes, receivedAt } = signal
      const key = signalKey(executionId, id)
      // Senders that repeat a request may write at the same time.
      const target = { executionId, holder: key, writer: randomUUID(), writtenAt: Date.parse(receivedAt) }
      const content = await storePayload(table, target, signal)
      const isKept = await table.put({ ...key, content, bytes, dataHash }, NOT_EXISTS)
      return (!isKept && (await find(executionId, id))) || { id, ...(dataHash && { dataHash }) }
    },

    find: ({ executionId, id }) => find(executionId, id),

    async list({ executionId }) {
      const signals: Signal[] = []
      for await (const items of queryPages(table, ofExecution(executionId))) {
        const loaded = await Promise.all(items.filter(({ content }) => content).map(load))
        signals.push(...loaded.filter((signal) => signal !== null))
      }
      return signals.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
    },

    async measure({ executionId }) {
      const kept: Pick<Signal, 'id' | 'bytes'>[] = []
      for await (const items of queryPages(table, ofExecution(executionId)))
        for (const item of items)
          if (item.content) kept.push({ id: signalIdOf(item as Key), bytes: Number(item.bytes) })
      return kept
    },

    async admit({ executionId, bytes }) {
      const key = signalCountKey(executionId)
      const count = (await table.get(key, { consistent: true })) as SignalCount | null
      if (!count) {
        const query = { ...ofExecution(executionId), Limit: UNCOUNTED_SIGNALS }
        const { items } = await table.query(query)
        return items.length < UNCOUNTED_SIGNALS ? 'admitted' : 'unknown'
      }
      if (!hasRoom(count, bytes)) return count
      const condition = roomFor(bytes)
      return (await table.update(key, { add: { count: 1, bytes }, condition })) ? 'admitted' : count
    },

    async recount({ executionId, last, unread }) {
      await table.put({ ...signalCountKey(executionId), ...unread }, last ? isStill(last) : NOT_EXISTS)
    },

    async forget({ executionId, ids }) {
      const keys = ids.map((id) => signalKey(executionId, id))
      const found = await table.getMany(keys, { consistent: true, attributes: ['content', 'dataHash'] })
      await table.writeMany(
        found.map(({ pk, sk, dataHash }) => {
          const key = { pk, sk } as Key
          return dataHash ? { put: { ...key, dataHash } } : { delete: key }
        }),
      )
      for (const { content } of found)
        await deletePayload(table, executionId, content as StoredPayload | undefined)
    },
  }
}

const orderOf = ({ receivedAt, id }: Signal): string => `${receivedAt}#${id}`

const hasRoom = ({ count, bytes }: SignalCount, added: number): boolean =>
  count < MAX_UNREAD_SIGNALS.count && bytes + added <= MAX_UNREAD_SIGNALS.bytes

/** `hasRoom`, as a condition. */
const roomFor = (added: number): Condition => ({
  expression: '#count < :maxCount AND #bytes <= :maxBytes',
  names: ['count', 'bytes'],
  values: { maxCount: MAX_UNREAD_SIGNALS.count, maxBytes: MAX_UNREAD_SIGNALS.bytes - added },
})

const isStill = ({ count, countedAt }: SignalCount): Condition => ({
  expression: '#count = :lastCount AND #countedAt = :lastCountedAt',
  names: ['count', 'countedAt'],
  values: { lastCount: count, lastCountedAt: countedAt },
})
