import type { Outcome } from '../core/execution.ts'
import type { ExecutionFilter, ExecutionStore, StaleExecution } from '../core/ports.ts'
import { type ExecutionItem, fromItem, LIST_ATTRIBUTES, OPEN_ATTRIBUTES, toItem } from './execution-item.ts'
import { agentShard, executionIdOf, executionKey, type Key, openShard, ownedShard, SHARDS } from './keys.ts'
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

  return {
    async create({ execution }) {
      return table.put(await toItem(table, execution), { expression: 'attribute_not_exists(pk)' })
    },

    async get({ organizationId, id }) {
      const item = await read(id)
      return item?.organizationId === organizationId ? hydrate(item) : null
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
        ({ input, output }) => payloadBytes(input) + payloadBytes(output),
      )
      const visible = items.filter((item) => !item.deleted && (!status || item.status === status))
      return { items: await Promise.all(visible.map(hydrate)), next }
    },

    async claim({ id, lease, now }) {
      const item = await table.update(executionKey(id), {
        set: { leaseOwner: lease.owner, leaseExpiresAt: lease.expiresAt, openUntil: lease.expiresAt },
        setOnce: { startedAt: new Date(now).toISOString() },
        add: { attempts: 1 },
        condition: all(isOpen, isUnleasedAt(now)),
      })
      if (item) return hydrate(item)
      const current = await read(id)
      if (current?.status !== 'IN_PROGRESS') return 'closed'
      return current.leaseOwner === lease.owner ? hydrate(current) : 'held'
    },

    async renew({ id, lease, progress }) {
      const { steps, usage, model } = progress ?? {}
      const item = await table.update(executionKey(id), {
        set: {
          leaseExpiresAt: lease.expiresAt,
          openUntil: lease.expiresAt,
          steps,
          usage,
          model: model ?? undefined,
        },
        condition: all(isOpen, isOwnedBy(lease.owner)),
      })
      return item !== null
    },

    async finish({ execution, owner, outcome, finishedAt }) {
      const { id } = execution
      const output =
        outcome.status === 'SUCCESS'
          ? await storePayload(table, id, `output-${owner}`, outcome.output)
          : undefined
      const item = await table.update(executionKey(id), {
        set: { ...ending(outcome, finishedAt), output, finishedBy: owner },
        remove: OPEN_ATTRIBUTES,
        condition: all(isOpen, isOwnedBy(owner)),
      })
      if (!item && (await read(id))?.finishedBy !== owner) return null
      return { ...execution, output: null, error: null, ...outcome, finishedAt, lease: null }
    },

    async end({ organizationId, id, error, finishedAt, unleasedAt }) {
      const item = await table.update(executionKey(id), {
        set: { status: 'ERROR', error: JSON.stringify(error), finishedAt },
        remove: OPEN_ATTRIBUTES,
        condition: all(
          isOpen,
          {
            expression: '#organizationId = :organizationId',
            names: ['organizationId'],
            values: { organizationId },
          },
          ...(unleasedAt === undefined ? [] : [isUnleasedAt(unleasedAt)]),
        ),
      })
      return item && hydrate(item)
    },

    async delete({ organizationId, id }) {
      const item = (await table.get(executionKey(id), { consistent: true })) as ExecutionItem | null
      if (item?.organizationId !== organizationId) return 'missing'
      if (item.status === 'IN_PROGRESS') return 'open'
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
      const item = await table.update(executionKey(stale.id), {
        set: { openUntil: until },
        condition: all(isOpen, {
          expression: '#openUntil = :before',
          names: ['openUntil'],
          values: { before: stale.openUntil },
        }),
      })
      return item !== null
    },
  }
}

const isOpen: Condition = {
  expression: '#status = :open',
  names: ['status'],
  values: { open: 'IN_PROGRESS' },
}

const isOwnedBy = (owner: string): Condition => ({
  expression: '#leaseOwner = :owner',
  names: ['leaseOwner'],
  values: { owner },
})

const isUnleasedAt = (now: number): Condition => ({
  expression: '(attribute_not_exists(#leaseOwner) OR #leaseExpiresAt < :now)',
  names: ['leaseOwner', 'leaseExpiresAt'],
  values: { now },
})

function all(...conditions: Condition[]): Condition {
  return {
    expression: conditions.map((condition) => condition.expression).join(' AND '),
    names: conditions.flatMap((condition) => condition.names ?? []),
    values: Object.assign({}, ...conditions.map((condition) => condition.values)),
  }
}

function ending(outcome: Outcome, finishedAt: string): Item {
  const { status, steps, usage, model } = outcome
  const error = outcome.status === 'ERROR' ? JSON.stringify(outcome.error) : undefined
  return { status, steps, usage, model: model ?? undefined, error, finishedAt }
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
    openUntil: Number(item.openUntil),
    deadlineAt: Number(item.deadlineAt),
  }
}
