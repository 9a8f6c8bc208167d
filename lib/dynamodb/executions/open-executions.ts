import type { ExecutionStore, StaleExecution } from '../../core/ports/executions.ts'
import {
  activePartition,
  activePrefix,
  activeShard,
  CHILD_PREFIX,
  childIdOf,
  executionIdOf,
  executionKey,
  isExecutionRecord,
  type Key,
  OPEN_SHARDS,
  openShard,
  STATUS_SHARDS,
  type StatusKey,
  statusShard,
  TIMER_SHARDS,
  timerShard,
} from '../table/keys.ts'
import { type Item, pick, type Query, queryPages, type Table } from '../table/table.ts'
import { type ExecutionItem, SUMMARY_ATTRIBUTES, toSummary } from './execution-item.ts'

const OPEN_PARTITIONS = Array.from({ length: OPEN_SHARDS }, (_, shard) => openShard(shard))
export const TIMER_PARTITIONS = Array.from({ length: TIMER_SHARDS }, (_, shard) => timerShard(shard))
const ACTIVE_PARTITIONS = Array.from({ length: OPEN_SHARDS }, (_, shard) => activePartition(shard))
/** Those that `listOpen` reads, one after the other. */
const ALL_PARTITIONS = [...TIMER_PARTITIONS, ...ACTIVE_PARTITIONS]

/** Shards to count, one after the other as long as the result is too close to the limit. */
const SAMPLES = [1, STATUS_SHARDS / 4, STATUS_SHARDS]

/** What the sparse indexes of open executions answer. */
export function openExecutions(
  table: Table,
  random = Math.random,
): Pick<ExecutionStore, 'countOpen' | 'countSuspended' | 'listOpen' | 'listStale'> {
  const countActive = (organizationId: string, shard: number) =>
    table.count('active-executions', activeShard(organizationId, shard), activePrefix(organizationId))
  const countKey = (key: StatusKey) => (organizationId: string, shard: number) =>
    table.count('executions-by-status', statusShard(organizationId, key, shard))

  /** An estimate while it is far below `max`. */
  const countShards =
    (...parts: ((organizationId: string, shard: number) => Promise<number>)[]): ExecutionStore['countOpen'] =>
    async ({ organizationId, max }) => {
      const count = async (shard: number) => {
        const counts = await Promise.all(parts.map((countPart) => countPart(organizationId, shard)))
        return counts.reduce((sum, each) => sum + each, 0)
      }
      const first = Math.floor(random() * STATUS_SHARDS)
      let open = 0
      let counted = 0
      for (const target of SAMPLES) {
        const shards = Array.from(
          { length: target - counted },
          (_, i) => (first + counted + i) % STATUS_SHARDS,
        )
        for (const part of await Promise.all(shards.map(count))) open += part
        counted = target
        if (isFarBelow(max, open, counted)) break
      }
      return Math.round((open * STATUS_SHARDS) / counted)
    }

  return {
    countOpen: countShards(countActive),

    countSuspended: countShards(countKey('WAITING'), countKey('WAITING-APPROVAL')),

    async listStale({ now, limit }) {
      const [ended, active] = await Promise.all([
        listDueItems(table, OPEN_PARTITIONS, { now, limit }),
        Promise.all(ACTIVE_PARTITIONS.map((partition) => readDueActive(table, partition, now))),
      ])
      return earliest([...ended, ...active.flat()], limit).map(toStale)
    },

    async listOpen({ limit, after }) {
      const shard = after?.shard ?? 0
      const isActive = shard >= TIMER_PARTITIONS.length
      const { items: entries, lastKey } = await table.query({
        IndexName: isActive ? 'active-executions' : 'open-executions',
        KeyConditionExpression: isActive ? 'activeShard = :shard' : 'openShard = :shard',
        ExpressionAttributeValues: { ':shard': ALL_PARTITIONS[shard] },
        ExclusiveStartKey: after?.entry ?? undefined,
        Limit: limit,
      })
      const keys = entries.map(({ pk, sk }) => ({ pk, sk }) as Key).filter(isExecutionRecord)
      const attributes = [...SUMMARY_ATTRIBUTES, 'deleted']
      const records = await table.getMany(keys, { consistent: true, attributes })
      const open = (records as (Item & ExecutionItem)[]).filter(
        ({ status, deleted }) => status === 'IN_PROGRESS' && !deleted,
      )
      const isLast = !lastKey && shard === ALL_PARTITIONS.length - 1
      const next = lastKey ? { shard, entry: lastKey } : { shard: shard + 1, entry: null }
      return { items: open.map(toSummary), next: isLast ? null : next }
    },
  }
}

/**
 * Whether the count of some shards shows that all of them together are below `max`. Ids are distributed evenly, so that
 * the estimate has a standard deviation of √(estimate · (shards / counted − 1)); it must be three of them, and 64,
 * below.
 */
function isFarBelow(max: number, open: number, counted: number): boolean {
  const estimate = (open * STATUS_SHARDS) / counted
  return estimate + 3 * Math.sqrt(estimate * (STATUS_SHARDS / counted - 1)) + 64 < max
}

export const toStale = (item: Item): StaleExecution => ({
  id: executionIdOf(String(item.pk)),
  tenantId: (item as Partial<StaleExecution>).tenantId ?? null,
  ...pick(item as StaleExecution, ['organizationId', 'createdAt', 'openUntil', 'deadlineAt']),
})

export async function listOpenChildren(
  table: Table,
  { organizationId, id }: Parameters<ExecutionStore['listOpenChildren']>[0],
): Promise<string[]> {
  const open: string[] = []
  const pages = queryPages(table, {
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :prefix)',
    ProjectionExpression: 'pk, sk',
    ExpressionAttributeValues: { ':pk': executionKey(id).pk, ':prefix': CHILD_PREFIX },
    ConsistentRead: true,
  })
  for await (const items of pages) {
    const keys = items.flatMap((item) => childIdOf(item as Key) ?? []).map(executionKey)
    const attributes = ['id', 'organizationId', 'status', 'deleted'] satisfies (keyof ExecutionItem)[]
    const children = (await table.getMany(keys, { consistent: true, attributes })) as (Item & ExecutionItem)[]
    const isOpen = (child: ExecutionItem) =>
      child.organizationId === organizationId && child.status === 'IN_PROGRESS' && !child.deleted
    open.push(...children.filter(isOpen).map((child) => child.id))
  }
  return open
}

type Due = { now: number; limit: number }

/** Items of these partitions of the index `open-executions` whose time has come, the earliest first. */
export async function listDueItems(table: Table, partitions: string[], { now, limit }: Due): Promise<Item[]> {
  const shards = await Promise.all(
    partitions.map((partition) => table.query({ ...dueBefore(partition, now), Limit: limit })),
  )
  return earliest(
    shards.flatMap(({ items }) => items),
    limit,
  )
}

const earliest = (items: Item[], limit: number): Item[] =>
  items.sort((a, b) => Number(a.openUntil) - Number(b.openUntil)).slice(0, limit)

/** Of a partition of active executions, which are read all: they are sorted for lists, and bounded by what runs. */
async function readDueActive(table: Table, partition: string, now: number): Promise<Item[]> {
  const pages = queryPages(table, {
    IndexName: 'active-executions',
    KeyConditionExpression: 'activeShard = :shard',
    FilterExpression: 'openUntil < :time',
    ExpressionAttributeValues: { ':shard': partition, ':time': now },
  })
  const due: Item[] = []
  for await (const items of pages) due.push(...items)
  return due
}

export const dueBefore = (partition: string, time: number): Query => ({
  IndexName: 'open-executions',
  KeyConditionExpression: 'openShard = :shard AND openUntil < :time',
  ExpressionAttributeValues: { ':shard': partition, ':time': time },
})
