import type { ExecutionFilter, ExecutionStore, StaleExecution } from '../core/ports.ts'
import * as transitions from '../core/transitions.ts'
import { isOf } from './cache-store.ts'
import { type ExecutionItem, fromItem, LIST_ATTRIBUTES, toChange, toItem } from './execution-item.ts'
import {
  agentShard,
  cacheKey,
  executionIdOf,
  executionKey,
  idempotencyKey,
  type Key,
  openShard,
  ownedShard,
  SHARDS,
} from './keys.ts'
import { learningStore } from './learning-store.ts'
import { cutPage } from './page-bytes.ts'
import { payloadBytes, storePayload } from './payload.ts'
import { readRecords, readShardedPage } from './sharded-list.ts'
import type { Condition, Item, Table } from './table.ts'

/** Executions, each a collection of its own: the record, the chunks of large payloads, the steps. */
export function executionStore(table: Table): ExecutionStore {
  /** Also tells a write whose answer was lost from one that was refused: its condition fails when it is sent again. */
  const read = async (id: string): Promise<Item | null> => {
    const item = await table.get(executionKey(id), { consistent: true })
    return item && !item.deleted ? item : null
  }
  const hydrate = (item: Item) => fromItem(table, item)
  /** The item as it is then, or null when the guard did not permit it. */
  const apply = (id: string, transition: transitions.Transition, more: Item = {}) => {
    const { set, ...change } = toChange(transition)
    return table.update(executionKey(id), {
      ...change,
      set: { ...set, ...more },
      condition: conditionOf(transition.guard),
    })
  }

  return {
    ...learningStore(table),

    async create({ execution }) {
      return table.put(await toItem(table, execution), { expression: 'attribute_not_exists(pk)' })
    },

    async get({ organizationId, id }) {
      const item = await read(id)
      return item?.organizationId === organizationId ? hydrate(item) : null
    },

    async getStatus({ organizationId, id }) {
      const attributes = ['organizationId', 'status', 'deleted']
      const item = await table.get(executionKey(id), { consistent: true, attributes })
      const isTheirs = item?.organizationId === organizationId && !item.deleted
      return isTheirs ? (item as ExecutionItem).status : null
    },

    async countOpen({ organizationId, max }) {
      const count = (shard: number) =>
        table.count('open-executions-of-organization', ownedShard(organizationId, 'OPEN', shard))
      const sampled = Math.floor(Math.random() * SHARDS)
      const sample = await count(sampled)
      if (isFarFrom(max, sample)) return sample * SHARDS
      const others = Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) => shard !== sampled)
      const counts = await Promise.all(others.map(count))
      return counts.reduce((sum, open) => sum + open, sample)
    },

    async list({ organizationId, agentId, status, tenantId, limit, after }) {
      const page = await readShardedPage(table, {
        index: agentId ? 'executions-of-agent' : 'owned-by-organization',
        shard: (shard) => (agentId ? agentShard(agentId, shard) : ownedShard(organizationId, 'EXEC', shard)),
        filter: filterOf({ status, tenantId }),
        limit,
        after,
      })
      const records = await readRecords(table, page)
      const { items, next } = cutPage(
        page,
        records as (Item & ExecutionItem)[],
        ({ input, output, feedback }) => payloadBytes(input) + payloadBytes(output) + payloadBytes(feedback),
      )
      const visible = items.filter((item) => !item.deleted && (!status || item.status === status))
      return { items: await Promise.all(visible.map(hydrate)), next }
    },

    async claim({ id, lease, now }) {
      const item = await apply(id, transitions.claim(lease, now))
      if (item) return { ...(await hydrate(item)), lease }
      const current = await read(id)
      if (current?.status !== 'IN_PROGRESS') return 'closed'
      return current.leaseOwner === lease.owner ? { ...(await hydrate(current)), lease } : 'held'
    },

    async renew({ id, lease, progress, learnedFrom }) {
      return (await apply(id, transitions.renew(lease, progress, learnedFrom))) !== null
    },

    async release({ id, owner, ...given }) {
      return (await apply(id, transitions.release(owner, given))) !== null
    },

    async finish({ execution, outcome, finishedAt }) {
      const { id } = execution
      const { owner } = execution.lease
      const output =
        outcome.status === 'SUCCESS'
          ? await storePayload(table, id, `output-${owner}`, outcome.output)
          : undefined
      const transition = transitions.finish(owner, outcome, finishedAt)
      const item = (await apply(id, transition, { output, finishedBy: owner })) ?? (await read(id))
      if (item?.finishedBy !== owner) return null
      const { learnedFrom = null } = item as ExecutionItem
      return { ...transitions.applyTransition(execution, transition), learnedFrom }
    },

    async end({ organizationId, id, error, finishedAt, unleasedAt }) {
      const guard = { organizationId, ...(unleasedAt !== undefined && { unleasedAt }) }
      const item = await apply(id, transitions.end(guard, error, finishedAt))
      return item && hydrate(item)
    },

    async delete({ organizationId, id }) {
      const item = (await table.get(executionKey(id), { consistent: true })) as ExecutionItem | null
      if (item?.organizationId !== organizationId) return 'missing'
      if (item.status === 'IN_PROGRESS') return 'open'
      if (item.cache) await table.delete(cacheKey(item.cache.key), isOf(id))
      if (item.idempotencyId) await table.delete(idempotencyKey(item.idempotencyId))
      await table.update(executionKey(id), {
        set: { deleted: true },
        remove: LIST_ATTRIBUTES,
        condition: { expression: 'attribute_exists(pk)' },
      })
      await deleteCollection(table, executionKey(id))
      return 'deleted'
    },

    async listStale({ now, limit }) {
      const shards = await Promise.all(
        Array.from({ length: SHARDS }, (_, shard) =>
          table.query({
            IndexName: 'open-executions',
            KeyConditionExpression: 'openShard = :shard AND openUntil < :now',
            ExpressionAttributeValues: { ':shard': openShard(shard), ':now': now },
            Limit: limit,
          }),
        ),
      )
      return shards
        .flatMap((shard) => shard.items.map(toStale))
        .sort((a, b) => a.openUntil - b.openUntil)
        .slice(0, limit)
    },

    async postpone({ stale, until }) {
      return (await apply(stale.id, transitions.postpone(stale.openUntil, until))) !== null
    },
  }
}

/**
 * Whether one shard's count says enough. Ids are spread evenly, so that of 1,000 executions a shard has 125, and hardly
 * ever (10 standard deviations) as few as the 58 up to which this holds for a cap of 1,000.
 */
const isFarFrom = (max: number, sample: number): boolean => 2 * SHARDS * sample + 64 < max

/** The guard as DynamoDB sees to it, at the moment of the write: what `permits` says of an execution in memory. */
function conditionOf({ organizationId, owner, unleasedAt, openUntil }: transitions.Guard): Condition {
  const terms: [string, unknown, string][] = [
    ['status', 'IN_PROGRESS', '#status = :isStatus'],
    ['organizationId', organizationId, '#organizationId = :isOrganizationId'],
    ['leaseOwner', owner, '#leaseOwner = :isLeaseOwner'],
    [
      'leaseExpiresAt',
      unleasedAt,
      '(attribute_not_exists(#leaseExpiresAt) OR #leaseExpiresAt < :isLeaseExpiresAt)',
    ],
    ['openUntil', openUntil, '#openUntil = :isOpenUntil'],
  ]
  const given = terms.filter(([, value]) => value !== undefined)
  return {
    expression: given.map(([, , expression]) => expression).join(' AND '),
    names: given.map(([name]) => name),
    values: Object.fromEntries(
      given.map(([name, value]) => [`is${name[0]?.toUpperCase()}${name.slice(1)}`, value]),
    ),
  }
}

function filterOf({ status, tenantId }: ExecutionFilter): Condition | undefined {
  const given = Object.entries({ status, tenantId }).filter(([, value]) => value !== null)
  if (given.length === 0) return undefined
  return {
    expression: given.map(([name]) => `#${name} = :${name}`).join(' AND '),
    names: given.map(([name]) => name),
    values: Object.fromEntries(given),
  }
}

/** Deletes everything beside the record first: an interrupted deletion can be asked for again. */
async function deleteCollection(table: Table, record: Key): Promise<void> {
  let lastKey: Item | null = null
  do {
    const page: { items: Item[]; lastKey: Item | null } = await table.query({
      KeyConditionExpression: 'pk = :pk',
      ProjectionExpression: 'pk, sk',
      ExpressionAttributeValues: { ':pk': record.pk },
      ConsistentRead: true,
      ...(lastKey && { ExclusiveStartKey: lastKey }),
    })
    const others = page.items.filter((item) => item.sk !== record.sk)
    await table.writeMany(others.map((item) => ({ delete: { pk: item.pk, sk: item.sk } as Key })))
    lastKey = page.lastKey
  } while (lastKey)
  await table.delete(record)
}

function toStale(item: Item): StaleExecution {
  return {
    id: executionIdOf(String(item.pk)),
    organizationId: String(item.organizationId),
    tenantId: item.tenantId === undefined ? null : String(item.tenantId),
    createdAt: String(item.createdAt),
    openUntil: Number(item.openUntil),
    deadlineAt: Number(item.deadlineAt),
  }
}
