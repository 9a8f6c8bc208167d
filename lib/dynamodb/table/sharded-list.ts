import { MAX_PAGE_BYTES } from '../../core/limits.ts'
import type { Page, PageRequest } from '../../core/ports/system.ts'
import { allOf, expressions, isEqual } from './expressions.ts'
import type { Key } from './keys.ts'
import { INDEXES, type IndexName, TABLE } from './schema.ts'
import type { Condition, Item, Table } from './table.ts'

/** Query pages of one shard that one request may read. A page is short when its filter matches few entries. */
const MAX_QUERIES_PER_SHARD = 5
/** Index entries that one query with a filter reads. It begins with a few, because most of them may match. */
const MAX_FILTERED_QUERY_LIMIT = 2_000
const FILTERED_QUERY_GROWTH = 8

export type SortRange = { from?: string | undefined; before?: string | undefined }

export type ShardedQuery = PageRequest & {
  /** Null: partitions of the table, whose sort keys are the sort values. Reads are consistent then. */
  index: IndexName | null
  /** The partition key of a shard, or a range of a partition of another index. */
  shard: (shard: number) => string | Range
  /** Their number; that of the index by default. */
  shards?: number
  filter?: Condition | undefined
  /** Bounds of the sort value: the first is included, the second is not. */
  range?: SortRange | undefined
  /** Attributes of the records; all of them by default. */
  attributes?: string[]
  /** Index entries that one query reads. */
  queryLimit?: number
  /** The record of an entry, if that is of another item. */
  recordKeyOf?: (entry: Item) => Key
  /** All entries that match, newest first, if they are known: then no index is read. */
  entries?: Item[]
}

/** The entries of a partition whose sort keys begin with the prefix, which the sort value follows. */
type Range = { index: IndexName; partition: string; prefix: string }

/**
 * One page of the records that a sharded index lists, newest first. Ends the page early when its records would exceed
 * what a response can carry; one record is always on it, however large.
 */
export async function listRecords<T extends Item>(
  table: Table,
  query: ShardedQuery,
  bytesOf: (record: T) => number = () => 0,
): Promise<Page<T>> {
  const { recordKeyOf = ({ pk, sk }) => ({ pk, sk }) as Key } = query
  const page = query.entries ? pageOf(query.entries, query) : await readShardedPage(table, query)
  const keys = page.items.map(recordKeyOf)
  // Consistent: an index may lag behind the table.
  const records = (await table.getMany(keys, {
    consistent: true,
    ...(query.attributes && { attributes: query.attributes }),
  })) as T[]
  const items = fitPage(records, bytesOf)
  if (items.length === records.length) return { items, next: page.next }
  const last = items.at(-1)
  const entry = page.items[keys.findIndex(({ pk, sk }) => pk === last?.pk && sk === last?.sk)]
  return { items, next: { order: sortValueOf(entry) } }
}

function pageOf(
  entries: Item[],
  { after, limit, range: { from = '', before } = {} }: ShardedQuery,
): Page<Item> {
  const end = min(after?.order, before)
  const isIn = (order: string) => order >= from && (end === undefined || order < end)
  const found = entries.filter((entry) => isIn(sortValueOf(entry)))
  const items = found.slice(0, limit)
  return { items, next: found.length > limit ? { order: sortValueOf(items.at(-1)) } : null }
}

/** The first records that fit into a response: one at least. */
export function fitPage<T>(records: T[], bytesOf: (record: T) => number): T[] {
  let bytes = 0
  const end = records.findIndex((record) => {
    bytes += bytesOf(record)
    return bytes > MAX_PAGE_BYTES
  })
  return end === -1 ? records : records.slice(0, Math.max(end, 1))
}

/**
 * One page of a sharded index: reads all shards in parallel from the same position and merges them by sort value. A
 * shard is queried again only when the merge has consumed its entries.
 */
export async function readShardedPage(table: Table, query: ShardedQuery): Promise<Page<Item>> {
  const shards = Array.from({ length: shardsOf(query) }, (_, shard): Shard => {
    const given = query.shard(shard)
    const range = typeof given === 'string' ? { index: query.index, partition: given, prefix: '' } : given
    return { ...range, entries: [], lastKey: null, queries: 0 }
  })
  await Promise.all(shards.map((shard) => readMore(table, query, shard)))
  const items: Item[] = []
  for (;;) {
    const newest = shards.reduce((a, b) => (nextSortValue(b) > nextSortValue(a) ? b : a))
    const order = nextSortValue(newest)
    if (order === '') return { items, next: null }
    const [entry] = newest.entries
    if (!entry) {
      if (newest.queries >= MAX_QUERIES_PER_SHARD) return { items, next: { order } }
      await readMore(table, query, newest)
      continue
    }
    newest.entries.shift()
    // One that has moved from one shard to another, of which the index has shown only a half yet.
    const last = items.at(-1)
    if (entry.pk === last?.pk && entry.sk === last?.sk) continue
    if (items.length === query.limit) return { items, next: { order: sortValueOf(items.at(-1)) } }
    items.push(entry)
  }
}

/** `entries`: those that were read and not taken yet, newest first. */
type Shard = {
  readonly index: IndexName | null
  readonly partition: string
  readonly prefix: string
  entries: Item[]
  lastKey: Item | null
  queries: number
}

/** Upper bound of the sort values that follow; '' at the end of the shard. */
const nextSortValue = ({ entries, lastKey }: Shard): string => sortValueOf(entries[0] ?? lastKey)

async function readMore(table: Table, query: ShardedQuery, shard: Shard): Promise<void> {
  const { after, filter, range = {} } = query
  const { index, prefix } = shard
  const [name, sortName] =
    index === null
      ? [TABLE.partitionKey, TABLE.sortKey]
      : [INDEXES[index].partitionKey.name, INDEXES[index].sortKey.name]
  const { from } = range
  const before = min(shard.lastKey ? sortValueOf(shard.lastKey) : after?.order, range.before)
  // DynamoDB rejects an empty range.
  if (from !== undefined && before !== undefined && from > precedingValue(before)) {
    shard.lastKey = null
    return
  }
  shard.queries++
  const partition = isEqual({ [name]: shard.partition }) ?? null
  const key = allOf(partition, sortCondition(sortName, withPrefix(prefix, { from, before })))
  const { ExpressionAttributeNames, ExpressionAttributeValues } = expressions({
    condition: allOf(key, filter ?? null),
  })
  const { items, lastKey } = await table.query({
    ...(index === null ? { ConsistentRead: true } : { IndexName: index }),
    KeyConditionExpression: key.expression,
    FilterExpression: filter?.expression,
    ExpressionAttributeNames,
    ExpressionAttributeValues,
    ScanIndexForward: false,
    Limit: queryLimitOf(query, shard.queries),
  })
  const toEntry = (item: Item): Item =>
    prefix ? { ...item, listOrder: String(item[sortName]).slice(prefix.length) } : item
  shard.entries = items.map(toEntry)
  shard.lastKey = lastKey && toEntry(lastKey)
}

/** Sort values are printable ASCII, of which `~` is the last. */
const withPrefix = (prefix: string, range: SortRange): SortRange => {
  if (!prefix) return range
  const { from = '', before = '~' } = range
  return { from: `${prefix}${from}`, before: `${prefix}${before}` }
}

const shardsOf = ({ index, shards = index === null ? 1 : INDEXES[index].shards }: ShardedQuery): number =>
  shards

/** By default, twice a shard's share of the page: nearly always enough, and far less than the whole page. */
function queryLimitOf(query: ShardedQuery, queries: number): number {
  const { limit, filter, queryLimit } = query
  const byDefault = Math.ceil((limit + 1) / shardsOf(query)) * 2 + 2
  if (queryLimit !== undefined || !filter) return queryLimit ?? byDefault
  return Math.min(4 * byDefault * FILTERED_QUERY_GROWTH ** (queries - 1), MAX_FILTERED_QUERY_LIMIT)
}

/** A key condition that holds for sort values in the range; null for all of them. */
function sortCondition(name: string, { from, before }: SortRange): Condition | null {
  const names = [name]
  if (from === undefined && before === undefined) return null
  if (before === undefined) return { expression: `#${name} >= :from`, names, values: { from } }
  if (from === undefined) return { expression: `#${name} < :before`, names, values: { before } }
  // DynamoDB accepts one condition on the sort key.
  const values = { from, last: precedingValue(before) }
  return { expression: `#${name} BETWEEN :from AND :last`, names, values }
}

/** A text before the sort value and after every smaller sort value, which are printable ASCII of the same length. */
const precedingValue = (value: string): string =>
  `${value.slice(0, -1)}${String.fromCharCode(value.charCodeAt(value.length - 1) - 1)}~`

const min = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || b === undefined ? (a ?? b) : a < b ? a : b

const sortValueOf = (entry: Item | null | undefined): string =>
  entry ? String(entry.listOrder ?? entry[TABLE.sortKey]) : ''
