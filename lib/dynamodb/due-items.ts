import type { Item, Table } from './table/table.ts'

type Due = { now: number; limit: number }

/** Items of these partitions of the index `open-executions` whose time has come, the earliest first. */
export async function listDueItems(table: Table, partitions: string[], { now, limit }: Due): Promise<Item[]> {
  const shards = await Promise.all(
    partitions.map((partition) =>
      table.query({
        IndexName: 'open-executions',
        KeyConditionExpression: 'openShard = :shard AND openUntil < :now',
        ExpressionAttributeValues: { ':shard': partition, ':now': now },
        Limit: limit,
      }),
    ),
  )
  return shards
    .flatMap(({ items }) => items)
    .sort((a, b) => Number(a.openUntil) - Number(b.openUntil))
    .slice(0, limit)
}
