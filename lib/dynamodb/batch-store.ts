import { randomUUID } from 'node:crypto'
import pLimit from 'p-limit'
import { type Batch, BLOCK, firstLane, type Lane, type LineInput } from '../core/batch.ts'
import { withoutOthers } from '../core/cursor.ts'
import type { ExecutionError } from '../core/execution-errors.ts'
import { parseStoredJson } from '../core/json/parse-json.ts'
import type { BatchStore } from '../core/ports/batches.ts'
import { MAX_TRIAL_RUNS } from '../core/trial.ts'
import { belongsTo } from './cache-stores.ts'
import { deleteItems } from './executions/cleanup.ts'
import { storeError, withoutNulls } from './executions/execution-item.ts'
import { readChunks, writeChunks } from './table/chunks.ts'
import { allOf, anyOf } from './table/expressions.ts'
import {
  batchBlockKey,
  batchKey,
  idempotencyKey,
  isOutboxShard,
  LANE_SHARDS,
  LIST_SHARDS,
  laneKey,
  outboxKeys,
  ownedShard,
  shardOf,
  timerShardOf,
} from './table/keys.ts'
import { TABLE } from './table/schema.ts'
import { listRecords } from './table/sharded-list.ts'
import { orCorrupt, readText, type StoredText } from './table/stored-text.ts'
import { type Condition, type Item, NOT_EXISTS, pick, queryPages, type Table } from './table/table.ts'

/** Longer than any process that writes the lines of a batch. */
const MAX_CREATE_MS = 900_000
const PARALLEL_BLOCKS = 16
/** Pages without a match that one request reads before it returns an empty one. */
const MAX_READS = 10

/**
 * Why nobody sees a batch: its lines are being written (or their writer died), it was deleted, or what belongs to it is
 * being removed. Only the first can become visible.
 */
type Hidden = 'incomplete' | 'deleted' | 'removing'

/** Batches: the record, a partition for each block of lines, and lanes in `LANE_SHARDS` partitions. */
export function batchStore(table: Table): BatchStore {
  const read = (id: string) => table.get(batchKey(id), { consistent: true })

  return {
    async create({ batch, lines }) {
      const { id, organizationId } = batch
      const writer = randomUUID()
      const parts = toBlocks(lines)
      // Requests with the same key may select different lines.
      const own = batch.trial && { writer }
      const firsts = parts.map(({ first }) => ({ first, chunks: 0 }))
      const openUntil = Date.parse(batch.createdAt) + MAX_CREATE_MS
      const incomplete = { ...toItem({ ...batch, blocks: firsts, openUntil }), hidden: 'incomplete', writer }
      // The writer of an incomplete batch has died, or has the same lines: its request has the same idempotency key.
      const isStarted = await table.put(incomplete, anyOf(NOT_EXISTS, isHidden('incomplete')))
      if (!isStarted && (await read(id))?.writer !== writer) return null
      const limit = pLimit(PARALLEL_BLOCKS)
      const blocks = await Promise.all(
        parts.map(({ first, json }, block) =>
          limit(async () => ({
            first,
            chunks: await writeChunks(table, json, (chunk) => batchBlockKey(id, block, chunk, own?.writer)),
            ...own,
          })),
        ),
      )
      const listed = {
        ownerShard: ownedShard(organizationId, batch.trial ? 'TRIAL' : 'BATCH', shardOf(id, LIST_SHARDS)),
        listOrder: id,
      }
      const isOwn = { expression: '#writer = :writer', names: ['writer'], values: { writer } }
      const complete = { ...toItem({ ...batch, blocks }), ...listed, writer }
      if (await table.put(complete, allOf(isOwn, isHidden('incomplete')))) return { ...batch, blocks }
      // The response to the first write may have been lost.
      const stored = await read(id)
      return stored?.writer === writer && !stored.hidden ? { ...batch, blocks } : null
    },

    async get({ organizationId, id }) {
      const item = await read(id)
      return item?.organizationId === organizationId && !item.hidden ? toBatch(item) : null
    },

    async list({ organizationId, agentIds, tenantId, versionId = null, isTrial = false, ...page }) {
      const shard = (number: number) => ownedShard(organizationId, isTrial ? 'TRIAL' : 'BATCH', number)
      const isListed = (item: Item) =>
        !item.hidden &&
        (agentIds?.includes(String(item.agentId)) ?? true) &&
        (tenantId === null || item.tenantId === tenantId) &&
        (versionId === null || item.versionId === versionId)
      const query = { index: 'owned-by-organization' as const, shard, ...page }
      for (let reads = 1; ; reads++) {
        const { items, next } = await listRecords(table, query)
        const batches = items.filter(isListed).map(toBatch)
        if (batches.length > 0 || !next || reads === MAX_READS)
          return { items: batches, next: next && withoutOthers(next, batches) }
        query.after = next
      }
    },

    async readBlock({ batch: { id, blocks }, block }) {
      const keyOf = (chunk: number) => batchBlockKey(id, block, chunk, blocks[block]?.writer)
      const json = await readChunks(table, blocks[block]?.chunks ?? 0, keyOf)
      return orCorrupt(keyOf(0), () => parseStoredJson(json) as unknown as LineInput[])
    },

    async listLanes({ batch }) {
      const lanes = Array.from({ length: batch.lanes }, (_, number) => firstLane(number, batch))
      const partitions = Math.min(batch.lanes, LANE_SHARDS)
      await Promise.all(
        Array.from({ length: partitions }, async (_, shard) => {
          const pages = queryPages(table, {
            KeyConditionExpression: 'pk = :pk',
            ExpressionAttributeValues: { ':pk': laneKey(batch.id, shard, batch.lanes).pk },
            ConsistentRead: true,
          })
          for await (const items of pages)
            for (const lane of items.map(toLane)) {
              if (lane.number < batch.lanes) lanes[lane.number] = lane
              else lanes.push(lane)
            }
        }),
      )
      return lanes
    },

    async getLane({ batch, number }) {
      const item = await table.get(laneKey(batch.id, number, batch.lanes), { consistent: true })
      return item ? toLane(item) : firstLane(number, batch)
    },

    putLane({ batch, lane, replaces }) {
      const executes = { expression: '#line = :replaces', names: ['line'], values: { replaces } }
      const isFirst = replaces === firstLane(lane.number, batch).line
      const key = laneKey(batch.id, lane.number, batch.lanes)
      return table.put({ ...key, ...withoutNulls(lane) }, isFirst ? anyOf(NOT_EXISTS, executes) : executes)
    },

    async stop({ batch, error, status }) {
      const stopped = status === 'CANCELLING' ? '' : ' AND attribute_not_exists(#stopped)'
      const item = await table.update(batchKey(batch.id), {
        set: { status },
        setOnce: { stopped: storeError(error) },
        condition: {
          expression: `#status = :open AND attribute_not_exists(#hidden)${stopped}`,
          names: ['status', 'hidden', 'stopped'],
          values: { open: 'IN_PROGRESS' },
        },
      })
      return item !== null
    },

    async end({ batch: { id }, totals, sums = null, endedAt, isMarked }) {
      const marks = isMarked && outboxKeys(id, Date.parse(endedAt))
      const item = await table.update(batchKey(id), {
        set: { status: 'ENDED', totals, endedAt, ...(sums && { sums }), ...marks },
        remove: marks ? [] : ['openShard', 'openUntil'],
        condition: isOpen,
      })
      // The response to the first write may have been lost.
      return item !== null || (await read(id))?.endedAt === endedAt
    },

    async postpone({ id, openUntil }) {
      await table.update(batchKey(id), { set: { openUntil }, condition: anyOf(isOpen, isHidden()) })
    },

    async hide({ batch: { id }, now }) {
      const set = { hidden: 'deleted', ...timerKey(id), openUntil: now }
      const condition = {
        expression: '#status = :ended AND attribute_not_exists(#hidden)',
        names: ['status', 'hidden'],
        values: { ended: 'ENDED' },
      }
      const remove = ['ownerShard', 'listOrder', TABLE.timeToLive]
      const item = (await table.update(batchKey(id), { set, remove, condition })) ?? (await read(id))
      return item?.hidden === 'deleted' && item.openUntil === now
    },

    async getHidden({ organizationId, id }) {
      const item = await read(id)
      return item?.organizationId === organizationId && item.hidden ? toBatch(item) : null
    },

    async remove({ batch: { id, blocks, lanes, trial, idempotencyId } }) {
      // From now on, no writer completes it.
      const set = { hidden: 'removing' }
      if (!(await table.update(batchKey(id), { set, condition: isHidden() }))) return
      // The same request is a new batch from now on, whose event must not have the id of the first one's.
      if (idempotencyId) await table.delete(idempotencyKey(idempotencyId), belongsTo(id))
      const { pk: own, sk: record } = batchKey(id)
      // Another request with the same key may have selected more lines.
      const blockCount = trial ? MAX_TRIAL_RUNS / BLOCK.lines : blocks.length
      const partitions = [
        // Of the deliveries.
        own,
        ...Array.from({ length: blockCount }, (_, block) => batchBlockKey(id, block, 0).pk),
        ...Array.from({ length: Math.min(lanes, LANE_SHARDS) }, (_, shard) => laneKey(id, shard).pk),
      ]
      const limit = pLimit(PARALLEL_BLOCKS)
      await Promise.all(
        partitions.map((pk) => limit(() => deleteItems(table, { pk }, ({ sk }) => sk !== record))),
      )
      await table.delete(batchKey(id), isHidden('removing'))
    },
  }
}

const isOpen: Condition = {
  expression: 'attribute_exists(pk) AND #status <> :ended AND attribute_not_exists(#hidden)',
  names: ['status', 'hidden'],
  values: { ended: 'ENDED' },
}

const isHidden = (as?: Hidden): Condition =>
  as
    ? { expression: '#hidden = :as', names: ['hidden'], values: { as } }
    : { expression: 'attribute_exists(#hidden)', names: ['hidden'] }

const timerKey = (id: string): Item => ({ openShard: timerShardOf(id) })

/** Blocks of at most `BLOCK.lines` lines, and at most `BLOCK.bytes` bytes of JSON unless a line is larger. */
function toBlocks(lines: LineInput[]): { first: number; json: string }[] {
  const blocks: { first: number; parts: string[]; bytes: number }[] = []
  for (const [first, line] of lines.entries()) {
    const json = JSON.stringify(line)
    const bytes = Buffer.byteLength(json)
    const last = blocks.at(-1)
    if (last && last.parts.length < BLOCK.lines && last.bytes + bytes <= BLOCK.bytes) {
      last.parts.push(json)
      last.bytes += bytes
    } else blocks.push({ first, parts: [json], bytes })
  }
  return blocks.map(({ first, parts }) => ({ first, json: `[${parts.join(',')}]` }))
}

const toItem = ({ stopped, ...batch }: Batch): Item => ({
  ...batchKey(batch.id),
  ...withoutNulls(batch),
  ...(stopped && { stopped: storeError(stopped) }),
  ...timerKey(batch.id),
})

/** Null is stored as an absent attribute. Batches of the previous release do not say what selected their version. */
const NO_VALUES = {
  selectedBy: 'CURRENT' as const,
  tenantId: null,
  tokenId: null,
  webhookUrl: null,
  trial: null,
  sums: null,
  retryOf: null,
  idempotencyId: null,
  maxCostUsd: null,
  endedAt: null,
  totals: null,
  openUntil: null,
}

const STORED = [
  'id',
  'organizationId',
  'agentId',
  'versionId',
  'selectedBy',
  'isDraft',
  'tenantId',
  'tokenId',
  'options',
  'webhookUrl',
  'trial',
  'sums',
  'retryOf',
  'idempotencyId',
  'lines',
  'blocks',
  'lanes',
  'maxCostUsd',
  'status',
  'createdAt',
  'endedAt',
  'totals',
  'openUntil',
] as const satisfies (keyof Batch)[]

function toBatch(item: Item): Batch {
  const { stopped, openShard } = item as { stopped?: StoredText; openShard?: string }
  const key = batchKey(String(item.id))
  const error = stopped === undefined ? null : readText(stopped, key)
  return {
    ...NO_VALUES,
    ...pick(item as Item & Batch, STORED),
    // Then it says when its end was entered into the outbox.
    ...(isOutboxShard(openShard) && { openUntil: null }),
    stopped: error === null ? null : orCorrupt(key, () => JSON.parse(error) as ExecutionError),
  }
}

const toLane = ({ pk: _, sk: __, [TABLE.timeToLive]: ___, ...lane }: Item): Lane =>
  ({ line: null, ...lane }) as Lane
