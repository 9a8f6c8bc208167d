import { createHash } from 'node:crypto'
import type { Execution } from '../../core/execution.ts'
import type { ExecutionListParams } from '../../core/ports/execution-reader.ts'
import type { KeyFilter, SearchKey } from '../../core/search-keys.ts'
import { type Condition, expressions, isEqual } from '../table/expressions.ts'
import {
  executionIdOf,
  executionKey,
  STATUS_SHARDS,
  searchKey,
  searchPrefix,
  searchShard,
  shardOf,
} from '../table/keys.ts'
import type { ShardedQuery } from '../table/sharded-list.ts'
import type { Item, Table } from '../table/table.ts'

/**
 * Writes an item for each key by which an execution is found: in its partition, so that all are deleted with it, and
 * expire. Lists compare its record, which has the same keys.
 */
export async function putSearchItems(
  table: Table,
  {
    id,
    organizationId,
    agentId,
    tenantId,
  }: Pick<Execution, 'id' | 'organizationId' | 'agentId' | 'tenantId'>,
  keys: SearchKey[],
): Promise<void> {
  if (keys.length === 0) return
  const shard = shardOf(id, STATUS_SHARDS)
  await table.writeMany(
    keys.map(({ name, value }) => ({
      put: {
        ...searchKey(id, name, createHash('sha256').update(value).digest('hex').slice(0, 32)),
        statusShard: searchShard(organizationId, name, shard),
        listOrder: `${searchPrefix(value)}${id}`,
        agentId,
        ...(tenantId !== null && { tenantId }),
      },
    })),
  )
}

type Params = ExecutionListParams & { key: KeyFilter }

/** The index to read for executions that have the key; null if those with a prefix are too many to be sorted here. */
export async function queryByKey(table: Table, params: Params): Promise<SearchQuery | null> {
  const { organizationId, agentId, tenantId, key } = params
  const index = 'executions-by-status'
  const query: SearchQuery = {
    index,
    shards: STATUS_SHARDS,
    shard: (number) => ({
      index,
      partition: searchShard(organizationId, key.name, number),
      prefix: searchPrefix(key.text),
    }),
    filter: isEqual({ agentId, tenantId }),
    recordKeyOf,
  }
  if (!key.isPrefix) return query
  const entries = await findByPrefix(table, params, query.filter)
  return entries && { ...query, entries }
}

type SearchQuery = Pick<ShardedQuery, 'index' | 'shard' | 'shards' | 'filter' | 'recordKeyOf' | 'entries'>

const recordKeyOf = ({ pk }: Item) => executionKey(executionIdOf(String(pk)))

/** Entries of a shard that one request reads: few read units, even if all 16 shards have as many. */
const MAX_ENTRIES = 500

/** All entries whose value begins with the prefix, newest first: the index has them in the order of their values. */
async function findByPrefix(
  table: Table,
  { organizationId, key: { name, text } }: Params,
  filter: Condition | undefined,
): Promise<Item[] | null> {
  const { ConditionExpression: _, UpdateExpression: __, ...given } = expressions({ condition: filter })
  const shards = Array.from({ length: STATUS_SHARDS }, (_, shard) =>
    table.query({
      IndexName: 'executions-by-status',
      KeyConditionExpression: `#shard = :shard${text && ' AND begins_with(#order, :prefix)'}`,
      FilterExpression: filter?.expression,
      ExpressionAttributeNames: {
        ...given.ExpressionAttributeNames,
        '#shard': 'statusShard',
        ...(text && { '#order': 'listOrder' }),
      },
      ExpressionAttributeValues: {
        ...given.ExpressionAttributeValues,
        ':shard': searchShard(organizationId, name, shard),
        ...(text && { ':prefix': text }),
      },
      Limit: MAX_ENTRIES,
    }),
  )
  const pages = await Promise.all(shards)
  if (pages.some(({ lastKey }) => lastKey)) return null
  // An attempt that was not the last one may have left an entry with another value.
  const found = new Map(
    pages.flatMap(({ items }) => items).map((item) => [executionIdOf(String(item.pk)), item]),
  )
  return [...found].sort(([a], [b]) => (a < b ? 1 : -1)).map(([id, item]) => ({ ...item, listOrder: id }))
}
