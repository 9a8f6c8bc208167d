import { type Delivery, EVENT_BUS } from '../../core/notification.ts'
import type { DeliveryStore, OutboxEntry } from '../../core/ports.ts'
import {
  DELIVERY_PREFIX,
  deliveriesShard,
  deliveryKey,
  executionIdOf,
  executionKey,
  handledKey,
  LIST_SHARDS,
  OUTBOX_POSITION,
  OUTBOX_SHARDS,
  outboxShard,
  shardOf,
  TIMER_SHARDS,
  timerShard,
} from '../table/keys.ts'
import { listRecords } from '../table/sharded-list.ts'
import { type Condition, type Item, NOT_EXISTS, queryPages, type Table } from '../table/table.ts'

/** Index entries that one query reads of a shard of the outbox. */
const OUTBOX_PAGE = 1_000

/** Deliveries: an item each, in the collection of their execution. */
export function deliveryStore(table: Table): DeliveryStore {
  return {
    async get({ executionId, revision, destinationId }) {
      const item = await table.get(deliveryKey(executionId, revision, destinationId), { consistent: true })
      return item && toDelivery(item)
    },

    async listOfExecution({ executionId }) {
      const deliveries: Delivery[] = []
      const pages = queryPages(table, {
        KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: { ':pk': executionKey(executionId).pk, ':prefix': DELIVERY_PREFIX },
        ConsistentRead: true,
      })
      for await (const items of pages) deliveries.push(...items.map(toDelivery))
      return deliveries
    },

    put: ({ delivery, attempts, dueAt }) =>
      table.put(toItem(delivery, dueAt), attempts === 0 ? NOT_EXISTS : isStill({ attempts })),

    delete: ({ executionId, revision, destinationId }) =>
      table.delete(deliveryKey(executionId, revision, destinationId)),

    async postpone({ executionId, revision, destinationId, dueAt, until }) {
      const condition = isStill({ openUntil: dueAt })
      const key = deliveryKey(executionId, revision, destinationId)
      return (await table.update(key, { set: { openUntil: until }, condition })) !== null
    },

    async list({ organizationId, destinationId, ...page }) {
      const shard = (number: number) => deliveriesShard(organizationId, destinationId, number)
      const { items, next } = await listRecords(table, { index: 'owned-by-organization', shard, ...page })
      return { items: items.map(toDelivery), next }
    },

    async setHandled({ executionId }) {
      await table.put(handledKey(executionId))
    },

    async findHandled({ executionIds }) {
      const items = await table.getMany(executionIds.map(handledKey), {
        consistent: true,
        attributes: [],
      })
      return new Set(items.map(({ pk }) => executionIdOf(String(pk))))
    },

    async *readOutbox({ from, before }) {
      // DynamoDB rejects an empty range.
      if (from >= before) return
      const shards = Array.from({ length: OUTBOX_SHARDS }, (_, shard) =>
        queryPages(table, {
          IndexName: 'open-executions',
          KeyConditionExpression: 'openShard = :shard AND openUntil BETWEEN :from AND :last',
          ExpressionAttributeValues: { ':shard': outboxShard(shard), ':from': from, ':last': before - 1 },
          Limit: OUTBOX_PAGE,
        }),
      )
      for (;;) {
        const pages = await Promise.all(shards.map((shard) => shard.next()))
        if (pages.every(({ done }) => done)) return
        const entries = pages.map(({ value }) => ((value ?? []) as Item[]).map(toEntry))
        // A shard may have more entries of the same time as its last one.
        const ends = entries.map((read) => read.at(-1)?.at ?? before)
        yield { entries: entries.flat(), until: Math.min(...ends) }
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

const toEntry = ({ pk, organizationId, openUntil }: Item): OutboxEntry => ({
  executionId: executionIdOf(String(pk)),
  organizationId: String(organizationId),
  at: Number(openUntil),
})

const isStill = (values: Record<string, number>): Condition => ({
  expression: Object.keys(values)
    .map((name) => `#${name} = :${name}`)
    .join(' AND '),
  names: Object.keys(values),
  values,
})

/** What a delivery and its item have in common. */
const PLAIN = [
  'executionId',
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
    ...Object.fromEntries(PLAIN.flatMap((name) => (name in item ? [[name, item[name]]] : []))),
    ...Object.fromEntries(NULLABLE.map((name) => [name, item[name] ?? null])),
  }) as Delivery

function toItem(delivery: Delivery, dueAt: number | null): Item {
  const { executionId, organizationId, revision, destinationId } = delivery
  return {
    ...deliveryKey(executionId, revision, destinationId),
    ...Object.fromEntries([...PLAIN, ...NULLABLE].map((name) => [name, delivery[name] ?? undefined])),
    // The deliveries to the event bus have no list: it belongs to no organization.
    ...(destinationId !== EVENT_BUS && {
      ownerShard: deliveriesShard(organizationId, destinationId, shardOf(executionId, LIST_SHARDS)),
      listOrder: `${executionId}#${String(revision).padStart(7, '0')}`,
    }),
    ...(dueAt !== null && {
      openShard: timerShard(shardOf(executionId, TIMER_SHARDS)),
      openUntil: dueAt,
      deadlineAt: Number.MAX_SAFE_INTEGER,
    }),
  }
}
