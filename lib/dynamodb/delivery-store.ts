import { firstIdAt } from '../core/ids.ts'
import { type Delivery, EVENT_BUS, TRACES } from '../core/notification.ts'
import type { DeliveryStore, OutboxEntry } from '../core/ports/notifications.ts'
import {
  DELIVERY_PREFIX,
  deliveriesShard,
  deliveryKey,
  handledKey,
  type Key,
  LIST_SHARDS,
  OUTBOX_POSITION,
  OUTBOX_SHARDS,
  outboxShard,
  shardOf,
  subjectOf,
  timerShardOf,
} from './table/keys.ts'
import { listRecords } from './table/sharded-list.ts'
import {
  type Condition,
  type Item,
  NOT_EXISTS,
  passedBy,
  queryPages,
  queryTogether,
  type Table,
} from './table/table.ts'

/** Index entries that one query reads of a shard of the outbox. */
const OUTBOX_PAGE = 1_000

/** Deliveries: an item each, in the partition of their subject. */
export function deliveryStore(table: Table): DeliveryStore {
  const listOf: DeliveryStore['listOf'] = async (subject) => {
    const deliveries: Delivery[] = []
    const pages = queryPages(table, {
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
      ExpressionAttributeValues: { ':pk': handledKey(subject).pk, ':prefix': DELIVERY_PREFIX },
      ConsistentRead: true,
    })
    for await (const items of pages) deliveries.push(...items.map(toDelivery))
    return deliveries
  }

  return {
    async get(id) {
      const item = await table.get(deliveryKey(id), { consistent: true })
      return item && toDelivery(item)
    },

    listOf,

    put: ({ delivery, attempts, dueAt }) =>
      table.put(toItem(delivery, dueAt), attempts === 0 ? NOT_EXISTS : isAfter(attempts)),

    delete: (id) => table.delete(deliveryKey(id)),

    async deleteOf(subject) {
      const keys = [...(await listOf(subject)).map(deliveryKey), handledKey(subject)]
      await Promise.all(keys.map((key) => table.delete(key)))
    },

    async list({ organizationId, destinationId, ...page }) {
      const shard = (number: number) => deliveriesShard(organizationId, destinationId, number)
      const { items, next } = await listRecords(table, { index: 'owned-by-organization', shard, ...page })
      return { items: items.map(toDelivery), next }
    },

    async setHandled(subject) {
      await table.put(handledKey(subject))
    },

    async findHandled({ subjects }) {
      const items = await table.getMany(subjects.map(handledKey), { consistent: true, attributes: [] })
      return new Set(items.map((item) => subjectOf(item as Key).id))
    },

    async *readOutbox({ from, before }) {
      // DynamoDB rejects an empty range.
      if (from >= before) return
      const queries = Array.from({ length: OUTBOX_SHARDS }, (_, shard) => ({
        IndexName: 'open-executions' as const,
        KeyConditionExpression: 'openShard = :shard AND openUntil BETWEEN :from AND :last',
        ExpressionAttributeValues: { ':shard': outboxShard(shard), ':from': from, ':last': before - 1 },
        Limit: OUTBOX_PAGE,
      }))
      for await (const pages of queryTogether(table, queries)) {
        const entries = pages.map((items) => items.map(toEntry))
        yield { entries: entries.flat(), until: passedBy(entries, before) }
      }
    },

    async getPosition() {
      return Number((await table.get(OUTBOX_POSITION, { consistent: true }))?.position ?? 0)
    },

    async setPosition({ position }) {
      const condition = {
        expression: 'attribute_not_exists(pk) OR #position < :position',
        names: ['position'],
        values: { position },
      }
      await table.put({ ...OUTBOX_POSITION, position }, condition)
    },
  }
}

const toEntry = (item: Item): OutboxEntry => ({
  subject: subjectOf(item as Key),
  organizationId: String(item.organizationId),
  at: Number(item.openUntil),
})

const isAfter = (attempts: number): Condition => ({
  expression: '#attempts = :attempts',
  names: ['attempts'],
  values: { attempts },
})

/** What a delivery and its item have in common. */
const PLAIN = [
  'organizationId',
  'revision',
  'type',
  'occurredAt',
  'waits',
  'destinationId',
  'status',
  'attempts',
  'createdAt',
  'attemptedAt',
] as const satisfies (keyof Delivery)[]
/** Absent if it is null. */
const NULLABLE = ['nextAttemptAt', 'responseStatus', 'error'] as const satisfies (keyof Delivery)[]

const toDelivery = (item: Item): Delivery =>
  ({
    subject: subjectOf(item as Key),
    ...Object.fromEntries(PLAIN.flatMap((name) => (name in item ? [[name, item[name]]] : []))),
    ...Object.fromEntries(NULLABLE.map((name) => [name, item[name] ?? null])),
  }) as Delivery

/** The time in the id of a warning is the start of its period. */
const orderOf = ({ subject: { kind, id }, occurredAt }: Delivery): string =>
  kind === 'limit' ? firstIdAt(Date.parse(occurredAt)) + id.slice(13) : id

function toItem(delivery: Delivery, dueAt: number | null): Item {
  const { subject, organizationId, revision, destinationId } = delivery
  const { kind, id } = subject
  return {
    ...deliveryKey(delivery),
    // The previous release reads it.
    ...(kind === 'execution' && { executionId: id }),
    ...Object.fromEntries([...PLAIN, ...NULLABLE].map((name) => [name, delivery[name] ?? undefined])),
    // The deliveries to the event bus and of traces have no list: these belong to no organization.
    ...(![EVENT_BUS, TRACES].includes(destinationId) && {
      ownerShard: deliveriesShard(organizationId, destinationId, shardOf(id, LIST_SHARDS)),
      listOrder: `${orderOf(delivery)}#${String(revision).padStart(7, '0')}`,
    }),
    ...(dueAt !== null && {
      openShard: timerShardOf(id),
      openUntil: dueAt,
    }),
  }
}
