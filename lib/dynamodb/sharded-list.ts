import type { Page, PageRequest } from '../core/ports.ts'
import { type Key, SHARDS } from './keys.ts'
import { INDEXES, type IndexName } from './schema.ts'
import type { Condition, Item, Table } from './table.ts'

/** Query pages of one shard that one request may read; with a filter that matches little, a page comes back short. */
const MAX_QUERIES_PER_SHARD = 4
const FILTERED_QUERY_LIMIT = 2_000

export type ShardedQuery = PageRequest & {
  index: IndexName
  /** The partition key of a shard. */
  shard: (shard: number) => string
  filter?: Condition | undefined
  /** Entries of the index that one query looks at. */
  bite?: number
}

/**
 * One page of a sharded index, newest first: every shard is read in parallel from the same place, and merged by sort
 * value. A shard that answers fewer than a page is asked again only when the merge has used up what it gave.
 */
export async function readShardedPage(table: Table, query: ShardedQuery): Promise<Page<Item>> {
  const streams = await Promise.all(
    Array.from({ length: SHARDS }, (_, shard) => ShardStream.open(table, query, shard)),
  )
  const items: Item[] = []
  for (;;) {
    const first = streams.reduce((a, b) => (b.head > a.head ? b : a))
    if (first.head === '') return { items, next: null }
    if (first.isEmpty) {
      if (first.isSpent) return { items, next: { order: first.head } }
      await first.fill()
      continue
    }
    if (items.length === query.limit) return { items, next: { order: orderOf(items.at(-1) ?? {}) } }
    items.push(...first.take())
  }
}

/** The records that a page of an index names, in its order. Consistent: the index never knows what the table does not. */
export function readRecords(table: Table, page: Page<Item>): Promise<Item[]> {
  const keys = page.items.map(({ pk, sk }) => ({ pk, sk }) as Key)
  return table.getMany(keys, { consistent: true })
}

/** One shard's items, newest first. `head` is the sort value that it cannot exceed any more; '' when it is done. */
class ShardStream {
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

  static async open(table: Table, query: ShardedQuery, shard: number): Promise<ShardStream> {
    const stream = new ShardStream(table, query, query.shard(shard))
    await stream.fill()
    return stream
  }

  get head(): string {
    const next = this.items[0] ?? this.lastKey
    return next ? orderOf(next) : ''
  }

  get isSpent(): boolean {
    return this.queries >= MAX_QUERIES_PER_SHARD
  }

  get isEmpty(): boolean {
    return this.items.length === 0
  }

  take(): Item[] {
    return this.items.splice(0, 1)
  }

  async fill(): Promise<void> {
    const { index, after, limit, filter, bite } = this.query
    const { partitionKey, sortKey } = INDEXES[index]
    const place = this.lastKey ? orderOf(this.lastKey) : after?.order
    this.queries++
    const answer = await this.table.query({
      IndexName: index,
      KeyConditionExpression: place
        ? `#partition = :partition AND #${sortKey.name} < :place`
        : '#partition = :partition',
      FilterExpression: filter?.expression,
      ExpressionAttributeNames: {
        '#partition': partitionKey.name,
        ...(place && { [`#${sortKey.name}`]: sortKey.name }),
        ...Object.fromEntries((filter?.names ?? []).map((name) => [`#${name}`, name])),
      },
      ExpressionAttributeValues: {
        ':partition': this.partition,
        ...(place && { ':place': place }),
        ...Object.fromEntries(
          Object.entries(filter?.values ?? {}).map(([name, value]) => [`:${name}`, value]),
        ),
      },
      ScanIndexForward: false,
      Limit: bite ?? (filter ? FILTERED_QUERY_LIMIT : firstBite(limit)),
    })
    this.items = answer.items
    this.lastKey = answer.lastKey
  }
}

/** Twice a shard's even share: enough for the whole page in nearly every draw, at a fraction of `limit` items a shard. */
const firstBite = (limit: number): number => Math.ceil((limit + 1) / SHARDS) * 2 + 2

const orderOf = (item: Item): string => String(item.listOrder)
