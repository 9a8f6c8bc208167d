import { MAX_PAGE_BYTES } from '../../core/limits.ts'
import type { Page, PageRequest } from '../../core/ports.ts'
import type { Key } from './keys.ts'
import { INDEXES, type IndexName } from './schema.ts'
import type { Condition, Item, Table } from './table.ts'

/** Query pages of one shard that one request may read. A page is short when its filter matches few entries. */
const MAX_QUERIES_PER_SHARD = 5
/** Index entries that one query with a filter reads. It begins with a few, because most of them may match. */
const MAX_FILTERED_QUERY_LIMIT = 2_000
const FILTERED_QUERY_GROWTH = 8

export type SortRange = { from?: string | undefined; before?: string | undefined }

export type ShardedQuery = PageRequest & {
  index: IndexName
  /** The partition key of a shard. */
  shard: (shard: number) => string
  filter?: Condition | undefined
  /** Bounds of the sort value: the first is included, the second is not. */
  range?: SortRange | undefined
  /** Attributes of the records; all of them by default. */
  attributes?: string[]
  /** Index entries that one query reads. */
  queryLimit?: number
}

/**
 * One page of the records that a sharded index lists, newest first. Ends the page early when its records would exceed
 * what a response can carry; one record is always on it, however large.
 */
export async function listRecords<T extends Item>(
  table: Table,
  query: ShardedQuery,
  bytesOf: (record: T) => number = () => 0,
): Promise<Page<T>> {
  const page = await readShardedPage(table, query)
  const keys = page.items.map(({ pk, sk }) => ({ pk, sk }) as Key)
  // Consistent: an index may lag behind the table.
  const records = (await table.getMany(keys, {
    consistent: true,
    ...(query.attributes && { attributes: query.attributes }),
  })) as T[]
  const items = fitPage(records, bytesOf)
  if (items.length === records.length) return { items, next: page.next }
  const last = items.at(-1)
  const entry = page.items.find(({ pk, sk }) => pk === last?.pk && sk === last?.sk)
  return { items, next: { order: sortValueOf(entry) } }
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
async function readShardedPage(table: Table, query: ShardedQuery): Promise<Page<Item>> {
  const shards = await Promise.all(
    Array.from({ length: INDEXES[query.index].shards }, (_, shard) => ShardReader.open(table, query, shard)),
  )
  const items: Item[] = []
  for (;;) {
    const newest = shards.reduce((a, b) => (b.nextSortValue > a.nextSortValue ? b : a))
    if (newest.nextSortValue === '') return { items, next: null }
    if (newest.isEmpty) {
      if (newest.isExhausted) return { items, next: { order: newest.nextSortValue } }
      await newest.readMore()
      continue
    }
    if (items.length === query.limit) return { items, next: { order: sortValueOf(items.at(-1)) } }
    items.push(newest.take())
  }
}

/** Reads one shard's entries, newest first. */
class ShardReader {
  private items: Item[] = []
  private lastKey: Item | null = null
  private queries = 0
  private readonly table: Table
  private readonly query: ShardedQuery
  private readonly partition: string

  private constructor(table: Table, query: ShardedQuery, partition: string) {
    this.table = table
    this.query = query
    this.partition = partition
  }

  static async open(table: Table, query: ShardedQuery, shard: number): Promise<ShardReader> {
    const reader = new ShardReader(table, query, query.shard(shard))
    await reader.readMore()
    return reader
  }

  /** Upper bound of the sort values that follow; '' at the end of the shard. */
  get nextSortValue(): string {
    return sortValueOf(this.items[0] ?? this.lastKey)
  }

  get isExhausted(): boolean {
    return this.queries >= MAX_QUERIES_PER_SHARD
  }

  get isEmpty(): boolean {
    return this.items.length === 0
  }

  private get filteredQueryLimit(): number {
    const first = 4 * defaultQueryLimit(this.query.limit, INDEXES[this.query.index].shards)
    return Math.min(first * FILTERED_QUERY_GROWTH ** (this.queries - 1), MAX_FILTERED_QUERY_LIMIT)
  }

  take(): Item {
    return this.items.shift() ?? {}
  }

  async readMore(): Promise<void> {
    const { index, after, limit, filter, range = {}, queryLimit } = this.query
    const { partitionKey, sortKey, shards } = INDEXES[index]
    const position = this.lastKey ? sortValueOf(this.lastKey) : after?.order
    const sort = sortCondition(`#${sortKey.name}`, { from: range.from, before: min(position, range.before) })
    if (!sort) {
      this.lastKey = null
      return
    }
    this.queries++
    const { items, lastKey } = await this.table.query({
      IndexName: index,
      KeyConditionExpression: ['#partition = :partition', ...sort.expressions].join(' AND '),
      FilterExpression: filter?.expression,
      ExpressionAttributeNames: {
        '#partition': partitionKey.name,
        ...(sort.expressions.length > 0 && { [`#${sortKey.name}`]: sortKey.name }),
        ...Object.fromEntries((filter?.names ?? []).map((name) => [`#${name}`, name])),
      },
      ExpressionAttributeValues: {
        ':partition': this.partition,
        ...sort.values,
        ...Object.fromEntries(
          Object.entries(filter?.values ?? {}).map(([name, value]) => [`:${name}`, value]),
        ),
      },
      ScanIndexForward: false,
      Limit: queryLimit ?? (filter ? this.filteredQueryLimit : defaultQueryLimit(limit, shards)),
    })
    this.items = items
    this.lastKey = lastKey
  }
}

/** Twice a shard's share of the page: nearly always enough, and far less than `limit` entries from each shard. */
const defaultQueryLimit = (limit: number, shards: number): number => Math.ceil((limit + 1) / shards) * 2 + 2

/** A key condition that holds for sort values in the range; null if there can be none. */
function sortCondition(
  name: string,
  { from, before }: SortRange,
): { expressions: string[]; values: Item } | null {
  if (from === undefined && before === undefined) return { expressions: [], values: {} }
  if (before === undefined) return { expressions: [`${name} >= :from`], values: { ':from': from } }
  if (from === undefined) return { expressions: [`${name} < :before`], values: { ':before': before } }
  // DynamoDB accepts one condition on the sort key, and no empty range.
  const last = precedingValue(before)
  if (from > last) return null
  return { expressions: [`${name} BETWEEN :from AND :last`], values: { ':from': from, ':last': last } }
}

/** A text before the sort value and after every smaller sort value, which are printable ASCII of the same length. */
const precedingValue = (value: string): string =>
  `${value.slice(0, -1)}${String.fromCharCode(value.charCodeAt(value.length - 1) - 1)}~`

const min = (a: string | undefined, b: string | undefined): string | undefined =>
  a === undefined || b === undefined ? (a ?? b) : a < b ? a : b

const sortValueOf = (entry: Item | null | undefined): string => (entry ? String(entry.listOrder) : '')
