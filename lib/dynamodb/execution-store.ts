import type { ExecutionFilter, ExecutionStore } from '../core/ports.ts'
import * as transitions from '../core/transitions.ts'
import { belongsTo } from './cache-store.ts'
import {
  type ExecutionItem,
  fromItem,
  LIST_ATTRIBUTES,
  toChange,
  toCondition,
  toItem,
} from './execution-item.ts'
import { learningStore } from './learning-store.ts'
import { openExecutions } from './open-executions.ts'
import { agentShard, cacheKey, executionKey, idempotencyKey, type Key, ownedShard } from './table/keys.ts'
import { payloadBytes, storePayload } from './table/payload.ts'
import { listRecords } from './table/sharded-list.ts'
import { type Condition, type Item, NOT_EXISTS, type Table } from './table/table.ts'

/** Executions. Each is an item collection: the record, the chunks of large payloads, the steps. */
export function executionStore(table: Table): ExecutionStore {
  const read = async (id: string): Promise<Item | null> => {
    const item = await table.get(executionKey(id), { consistent: true })
    return item && !item.deleted ? item : null
  }
  const toExecution = (item: Item) => fromItem(table, item)
  /** The updated item, or null when the guard failed. It fails too when the SDK repeats a write whose response was lost. */
  const apply = (id: string, transition: transitions.Transition, attributes: Item = {}) => {
    const { set, ...change } = toChange(transition)
    return table.update(executionKey(id), {
      ...change,
      set: { ...set, ...attributes },
      condition: toCondition(transition.guard),
    })
  }

  return {
    ...learningStore(table),
    ...openExecutions(table),

    async create({ execution }) {
      return table.put(await toItem(table, execution), NOT_EXISTS)
    },

    async get({ organizationId, id }) {
      const item = await read(id)
      return item?.organizationId === organizationId ? toExecution(item) : null
    },

    async getStatus({ organizationId, id }) {
      const attributes = ['organizationId', 'status', 'deleted']
      const item = await table.get(executionKey(id), { consistent: true, attributes })
      const isVisible = item?.organizationId === organizationId && !item.deleted
      return isVisible ? (item as ExecutionItem).status : null
    },

    async list({ organizationId, agentId, status, tenantId, limit, after }) {
      const { items, next } = await listRecords<Item & ExecutionItem>(
        table,
        {
          index: agentId ? 'executions-of-agent' : 'owned-by-organization',
          shard: (shard) =>
            agentId ? agentShard(agentId, shard) : ownedShard(organizationId, 'EXEC', shard),
          filter: toFilter({ status, tenantId }),
          limit,
          after,
        },
        ({ input, output, feedback }) => payloadBytes(input) + payloadBytes(output) + payloadBytes(feedback),
      )
      // The index may lag behind: check the records too.
      const visible = items.filter((item) => !item.deleted && (!status || item.status === status))
      return { items: await Promise.all(visible.map(toExecution)), next }
    },

    async claim({ id, lease, now }) {
      const item = await apply(id, transitions.claim(lease, now))
      if (item) return { ...(await toExecution(item)), lease }
      const current = await read(id)
      if (current?.status !== 'IN_PROGRESS') return 'closed'
      return current.leaseOwner === lease.owner ? { ...(await toExecution(current)), lease } : 'held'
    },

    async renew({ id, lease, progress, learnedFrom }) {
      return (await apply(id, transitions.renew(lease, progress, learnedFrom))) !== null
    },

    async release({ id, owner, ...params }) {
      return (await apply(id, transitions.release(owner, params))) !== null
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
      return item && toExecution(item)
    },

    async delete({ organizationId, id }) {
      const item = (await table.get(executionKey(id), { consistent: true })) as ExecutionItem | null
      if (item?.organizationId !== organizationId) return 'missing'
      if (item.status === 'IN_PROGRESS') return 'open'
      if (item.cache) await table.delete(cacheKey(item.cache.key), belongsTo(id))
      if (item.idempotencyId) await table.delete(idempotencyKey(item.idempotencyId))
      await table.update(executionKey(id), {
        set: { deleted: true },
        remove: LIST_ATTRIBUTES,
        condition: { expression: 'attribute_exists(pk)' },
      })
      await deleteCollection(table, executionKey(id))
      return 'deleted'
    },

    async postpone({ stale, until }) {
      return (await apply(stale.id, transitions.postpone(stale.openUntil, until))) !== null
    },
  }
}

function toFilter({ status, tenantId }: ExecutionFilter): Condition | undefined {
  const terms = Object.entries({ status, tenantId }).filter(([, value]) => value !== null)
  if (terms.length === 0) return undefined
  return {
    expression: terms.map(([name]) => `#${name} = :${name}`).join(' AND '),
    names: terms.map(([name]) => name),
    values: Object.fromEntries(terms),
  }
}

/** Deletes the record last, so that an interrupted deletion can be repeated. */
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
