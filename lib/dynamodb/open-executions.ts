import type { ExecutionStore, StaleExecution } from '../core/ports.ts'
import { executionIdOf, openShard, ownedShard, SHARDS } from './table/keys.ts'
import type { Item, Table } from './table/table.ts'

const ALL_SHARDS = Array.from({ length: SHARDS }, (_, shard) => shard)

/** What the sparse indexes of open executions answer. */
export function openExecutions(table: Table): Pick<ExecutionStore, 'countOpen' | 'listStale'> {
  return {
    async countOpen({ organizationId, max }) {
      const count = (shard: number) =>
        table.count('open-executions-of-organization', ownedShard(organizationId, 'OPEN', shard))
      const sampled = Math.floor(Math.random() * SHARDS)
      const sample = await count(sampled)
      if (isFarBelow(max, sample)) return sample * SHARDS
      const others = await Promise.all(ALL_SHARDS.filter((shard) => shard !== sampled).map(count))
      return others.reduce((sum, open) => sum + open, sample)
    },

    async listStale({ now, limit }) {
      const shards = await Promise.all(
        ALL_SHARDS.map((shard) =>
          table.query({
            IndexName: 'open-executions',
            KeyConditionExpression: 'openShard = :shard AND openUntil < :now',
            ExpressionAttributeValues: { ':shard': openShard(shard), ':now': now },
            Limit: limit,
          }),
        ),
      )
      return shards
        .flatMap(({ items }) => items.map(toStale))
        .sort((a, b) => a.openUntil - b.openUntil)
        .slice(0, limit)
    },
  }
}

/**
 * Whether the count of one shard shows that all shards together are below `max`. Ids are distributed evenly: of 1,000
 * executions a shard has 125 on average, and fewer than 59, the threshold of this formula, at 10 standard deviations.
 */
const isFarBelow = (max: number, sample: number): boolean => 2 * SHARDS * sample + 64 < max

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
