import { randomUUID } from 'node:crypto'
import pRetry from 'p-retry'
import { Unavailable } from '../core/errors.ts'
import type { UsagePosition, UsageStore } from '../core/ports/usage.ts'
import {
  INTERVAL_MS,
  measuresOf,
  startOf,
  USAGE_RANGES,
  type UsageEntry,
  type UsageInterval,
  type UsageRow,
} from '../core/usage.ts'
import { NO_TOTALS } from '../core/usage-rows.ts'
import { type ExecutionItem, readUsageCode } from './executions/execution-item.ts'
import { MissingChunk, readChunks, writeChunks } from './table/chunks.ts'
import { allOf } from './table/expressions.ts'
import {
  type Key,
  USAGE_POSITION,
  USAGE_SHARDS,
  usageChunkKey,
  usageKey,
  usageOrder,
  usageOwnerOf,
  usagePartition,
  usagePartsPartition,
  usageShard,
} from './table/keys.ts'
import { timeToLive } from './table/retention.ts'
import { USAGE_ATTRIBUTES } from './table/schema.ts'
import { orCorrupt, readText, type StoredText, textBytes, toStoredText } from './table/stored-text.ts'
import {
  type Condition,
  type Item,
  passedBy,
  type Query,
  queryPages,
  queryTogether,
  type Table,
} from './table/table.ts'

/** How long totals are kept: those of minutes longer than clients read them, for an outage of the sweeper. */
const KEPT_MS: Record<UsageInterval, number> = {
  minute: 7 * INTERVAL_MS.day,
  hour: USAGE_RANGES.hour.keptMs,
  day: USAGE_RANGES.day.keptMs,
}

/** Of the totals in one item; larger ones are stored in chunks. */
const INLINE_BYTES = 300_000
/** Of JSON that is compressed at once. */
const MAX_INLINE_JSON = 2_000_000

/** Of the requests of a fold: it has thousands, and would begin again if one of them failed. */
const RETRIES = { retries: 5, minTimeout: 50, maxTimeout: 1_000, randomize: true }

const SHARDS = Array.from({ length: USAGE_SHARDS }, (_, shard) => shard)

/** `rows`: JSON. `chunks`: of totals that are not in the item, and which write they belong to. */
type TotalsItem = Key & { start: number; readAt: number } & (
    | { rows: StoredText }
    | { chunks: number; write: string }
  )

/** The index `usage-entries`, and the totals of its entries by minute, hour and day: an item for each organization. */
export function usageStore(table: Table): UsageStore {
  const patient = patientTable(table)

  async function load(item: TotalsItem): Promise<UsageRow[]> {
    if ('rows' in item) return parseRows(item, readText(item.rows, item))
    try {
      const json = await readChunks(table, item.chunks, (chunk) => usageChunkKey(item.write, chunk))
      return parseRows(item, json)
    } catch (error) {
      // It has expired, and DynamoDB deletes in no particular order.
      if (error instanceof MissingChunk) return []
      throw error
    }
  }

  return {
    async *readEntries({ from, before }) {
      // DynamoDB rejects an empty range.
      if (from >= before) return
      const queries = SHARDS.map((shard) => entriesQuery(shard, from, before))
      for await (const pages of queryTogether(patient, queries)) {
        const entries = pages.map((items) => items.map(toEntry))
        yield { entries: entries.flat(), until: passedBy(entries, before) }
      }
    },

    async put({ organizationId, interval, start, rows, readAt, isFinal }) {
      const key = usageKey(interval, organizationId, start)
      const json = JSON.stringify(rows.map(withoutZeros))
      const expiry = timeToLive(Math.max(start, readAt) + KEPT_MS[interval])
      const inline = json.length <= MAX_INLINE_JSON ? toStoredText(json) : null
      const isInline = inline !== null && storedBytes(inline) <= INLINE_BYTES
      const write = randomUUID()
      const chunkOf = (chunk: number) => ({ ...usageChunkKey(write, chunk), ...expiry })
      const stored = isInline ? { rows: inline } : { chunks: await writeChunks(table, json, chunkOf), write }
      // Chunks of what this replaces, or of what is refused, are read by nobody. They expire.
      const item = { ...key, start, readAt, ...(isFinal && { isFinal }), ...stored, ...expiry }
      await patient.put(item, isFinal ? NOT_FINAL : isOlder(readAt))
    },

    async *read({ organizationId, interval, from, to }) {
      if (from >= to) return
      const queries = totalsQueries(organizationId, interval, from, to)
      const lists = queries.map((query) => queryPages(table, query))
      // All at once: an hour, or a day of hours, is a partition of its own.
      const firstPages = lists.map((list) => list.next())
      for (const page of firstPages) page.catch(() => undefined)
      for (const [index, list] of lists.entries())
        for (let page = await firstPages[index]; page?.value; page = await list.next())
          for (const item of page.value as TotalsItem[]) yield { start: item.start, rows: await load(item) }
    },

    async *readParts({ start, interval }) {
      const parts = interval === 'hour' ? 'minute' : 'hour'
      for (const shard of SHARDS) {
        const pages = queryPages(patient, {
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': usagePartsPartition(parts, start, shard) },
          ConsistentRead: true,
        })
        for await (const items of pages)
          for (const item of items as TotalsItem[])
            yield { organizationId: usageOwnerOf(item), rows: await load(item) }
      }
    },

    getPosition: () => readPosition(table),

    async setPosition({ position }) {
      const { minute, hour, day } = position
      const condition = {
        expression: 'attribute_not_exists(pk) OR (#minute <= :minute AND #hour <= :hour AND #day <= :day)',
        names: ['minute', 'hour', 'day'],
        values: { minute, hour, day },
      }
      await patient.put({ ...USAGE_POSITION, minute, hour, day }, condition)
    },
  }
}

function patientTable({ query, put }: Table): Pick<Table, 'query' | 'put'> {
  const shouldRetry = ({ error }: { error: unknown }) => error instanceof Unavailable
  const retry = <T>(request: () => Promise<T>) => pRetry(request, { ...RETRIES, shouldRetry })
  return {
    query: (...params) => retry(() => query(...params)),
    put: (...params) => retry(() => put(...params)),
  }
}

async function readPosition(table: Table): Promise<UsagePosition | null> {
  const item = await table.get(USAGE_POSITION, { consistent: true })
  return item && { minute: Number(item.minute), hour: Number(item.hour), day: Number(item.day) }
}

/** Whether the usage of what became final at a time (milliseconds since the epoch) is counted. Reads rarely. */
export function usageProgress(table: Table): (at: number) => Promise<boolean> {
  let passed = 0
  return async (at) => {
    if (at >= passed) passed = Math.max(passed, (await readPosition(table))?.minute ?? 0)
    return at < passed
  }
}

const ENTRY_ATTRIBUTES = [...USAGE_ATTRIBUTES, 'usageAt']

const entriesQuery = (shard: number, from: number, before: number): Query => ({
  IndexName: 'usage-entries',
  KeyConditionExpression: 'usageShard = :shard AND usageAt BETWEEN :from AND :last',
  ProjectionExpression: ENTRY_ATTRIBUTES.map((name) => `#${name}`).join(', '),
  ExpressionAttributeNames: Object.fromEntries(ENTRY_ATTRIBUTES.map((name) => [`#${name}`, name])),
  ExpressionAttributeValues: { ':shard': usageShard(shard), ':from': from, ':last': before - 1 },
})

function toEntry(stored: Item): UsageEntry {
  const item = stored as ExecutionItem & { usageAt: number }
  const { organizationId, agentId, versionId, usageAt: at, cached, steps, usage } = item
  const { lostSteps = [], lostUsage = null, startedAt = null, waitedMs = 0 } = item
  return {
    organizationId,
    at,
    agentId,
    versionId,
    tenantId: item.tenantId ?? null,
    model: item.model ?? null,
    tokenId: item.tokenId ?? null,
    ...readUsageCode(item),
    cached,
    childUsage: item.childUsage ?? null,
    ...measuresOf({ cached, steps, usage, lostSteps, lostUsage, startedAt, waitedMs }, at),
  }
}

/** Those of an organization, from `from` on and before `to`. */
function totalsQueries(organizationId: string, interval: UsageInterval, from: number, to: number): Query[] {
  const partitions = new Set<string>()
  const size = interval === 'minute' ? 'hour' : 'day'
  for (let start = startOf(size, from); start < to; start += INTERVAL_MS[size])
    partitions.add(usagePartition(interval, organizationId, start))
  return [...partitions].map((pk) => ({
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
    ExpressionAttributeValues: {
      ':pk': pk,
      ':first': usageOrder(organizationId, from),
      ':last': usageOrder(organizationId, to - 1),
    },
    ConsistentRead: true,
  }))
}

const NOT_FINAL: Condition = { expression: 'attribute_not_exists(#isFinal)', names: ['isFinal'] }

const isOlder = (readAt: number): Condition =>
  allOf(NOT_FINAL, {
    expression: '(attribute_not_exists(pk) OR #readAt <= :readAt)',
    names: ['readAt'],
    values: { readAt },
  })

const storedBytes = (text: StoredText): number =>
  typeof text === 'string' ? textBytes(text) : text.gzip.length

/** Members that are zero or null are not stored. */
const withoutZeros = ({ scorer, scores, ...row }: UsageRow): Partial<UsageRow> =>
  Object.fromEntries(
    Object.entries({ ...row, ...(scorer !== null && { scorer, scores }) }).filter(
      ([, value]) =>
        value !== 0 && value !== null && (typeof value !== 'object' || Object.keys(value).length > 0),
    ),
  )

/** What members that are not stored stand for. */
const NOTHING = { tenantId: null, model: null, tokenId: null, scorer: null, ...NO_TOTALS }

const parseRows = (key: Key, json: string): UsageRow[] =>
  orCorrupt(key, () => JSON.parse(json) as UsageRow[]).map((row) => ({
    ...NOTHING,
    ...row,
    errors: row.errors ?? {},
  }))
