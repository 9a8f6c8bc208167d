import type { SignalStore } from '../../core/ports.ts'
import type { Signal } from '../../core/wait.ts'
import { executionKey, SIGNAL_PREFIX, signalKey } from '../table/keys.ts'
import { loadIfComplete, payloadBytes, type StoredPayload, storePayload } from '../table/payload.ts'
import { type Item, NOT_EXISTS, queryPages, type Table } from '../table/table.ts'

/** Signals of executions: an item each, with its data. */
export function signalStore(table: Table): SignalStore {
  const readItems = (executionId: string) =>
    queryPages(table, {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': executionKey(executionId).pk, ':prefix': SIGNAL_PREFIX },
      ConsistentRead: true,
    })

  const load = async (item: Item): Promise<Signal | null> => {
    const key = { pk: String(item.pk), sk: String(item.sk) }
    return (await loadIfComplete(table, key, item.content as StoredPayload)) as Signal | null
  }

  return {
    async put({ executionId, signal }) {
      const key = signalKey(executionId, signal.id)
      const target = { executionId, holder: key, writer: signal.id, writtenAt: Date.parse(signal.receivedAt) }
      const content = await storePayload(table, target, signal)
      if (await table.put({ ...key, content }, NOT_EXISTS)) return signal
      const kept = await table.get(key, { consistent: true })
      return (kept && (await load(kept))) ?? signal
    },

    async list({ executionId }) {
      const signals: Signal[] = []
      for await (const items of readItems(executionId)) {
        const loaded = await Promise.all(items.map(load))
        signals.push(...loaded.filter((signal) => signal !== null))
      }
      return signals.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
    },

    async measure({ executionId }) {
      const total = { count: 0, bytes: 0 }
      for await (const items of readItems(executionId)) {
        total.count += items.length
        for (const { content } of items) total.bytes += payloadBytes(content as StoredPayload)
      }
      return total
    },

    async delete({ executionId, ids }) {
      await table.writeMany(ids.map((id) => ({ delete: signalKey(executionId, id) })))
    },
  }
}

const orderOf = ({ receivedAt, id }: Signal): string => `${receivedAt} ${id}`
