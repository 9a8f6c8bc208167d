import { randomUUID } from 'node:crypto'
import type { Page } from '../core/ports/system.ts'
import type { LimitStore, SubjectKey } from '../core/ports/usage.ts'
import { INTERVAL_MS, NANO_USD } from '../core/usage.ts'
import {
  type LimitSubject,
  type LimitWarning,
  orderOf,
  periodsOf,
  type StoredLimits,
} from '../core/usage-limits.ts'
import { withoutNulls } from './executions/execution-item.ts'
import {
  executionIdOf,
  executionKey,
  type Key,
  limitedOf,
  limitedRunsKey,
  limitsKey,
  limitsPrefix,
  OUTBOX_SHARDS,
  outboxShard,
  SPENT_SHARDS,
  shardOf,
  slotsKey,
  slotsNumberOf,
  spentKey,
  warningKey,
} from './table/keys.ts'
import { timeToLive } from './table/retention.ts'
import { type Item, NOT_EXISTS, pick, queryPages, type Table } from './table/table.ts'

/** Of the counters of runs: long enough for clocks that differ. */
const COUNTER_KEPT_MS = INTERVAL_MS.minute
/** Of what was spent: what an operator may look up. */
const SPENT_KEPT_MS = 400 * INTERVAL_MS.day
/** Longer than any execution can last. */
const SLOTS_KEPT_MS = 400 * INTERVAL_MS.day
/** Longer than a process takes from the slot of an execution to its record. */
const UNRECORDED_MS = 10 * INTERVAL_MS.minute

/** Slots in one item: as many as keep it below 1 kB, so that taking and releasing one is a write unit each. */
const SLOTS_PER_ITEM = 16
/** Slots that are looked at when all are taken, in the hope that their executions have ended. */
const MAX_CHECKED = 25
const MAX_ATTEMPTS = 10

/**
 * Limits: an item each, and those of an organization in one partition. Slots: a few items for each subject, with an
 * attribute for each execution that has one and their number, which change together.
 */
export function limitStore(table: Table): LimitStore {
  async function readSlots({ organizationId, subject }: SubjectKey): Promise<Slot[]> {
    const pages = queryPages(table, {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': slotsKey(organizationId, subject, 0).pk },
      ConsistentRead: true,
    })
    const slots: Slot[] = []
    for await (const items of pages) slots.push(...items.flatMap(toSlots))
    return slots
  }

  /** Does nothing if the slot was released before. */
  async function release(
    { organizationId, subject }: SubjectKey,
    { number, executionId, takenAt }: Slot,
  ): Promise<void> {
    const name = attributeOf(executionId)
    await table.update(slotsKey(organizationId, subject, number), {
      remove: [name],
      add: { taken: -1 },
      condition: { expression: `#${name} = :takenAt`, names: [name], values: { takenAt } },
    })
  }

  /** Whether some of the slots were free, though taken. */
  async function releaseEnded(key: SubjectKey, slots: Slot[], now: number): Promise<boolean> {
    const checked = sample(slots, MAX_CHECKED)
    // An execution can have two, if two processes have accepted it at the same time.
    const ids = new Set(checked.map(({ executionId }) => executionId))
    const keys = [...ids].map(executionKey)
    const records = await table.getMany(keys, { consistent: true, attributes: ['status'] })
    const statusOf = new Map(records.map(({ pk, status }) => [executionIdOf(String(pk)), status]))
    // A deleted one has no status.
    const isFree = ({ executionId, takenAt }: Slot) =>
      statusOf.has(executionId) ? statusOf.get(executionId) !== 'IN_PROGRESS' : now - takenAt > UNRECORDED_MS
    const free = checked.filter(isFree)
    await Promise.all(free.map((slot) => release(key, slot)))
    return free.length > 0
  }

  return {
    async hasAny({ organizationId }) {
      const { items } = await table.query({
        KeyConditionExpression: 'pk = :pk',
        ProjectionExpression: 'pk',
        ExpressionAttributeValues: { ':pk': limitsKey(organizationId, { kind: 'tenant', id: '' }).pk },
        ConsistentRead: true,
        Limit: 1,
      })
      return items.length > 0
    },

    async get({ organizationId, subject }) {
      const item = await table.get(limitsKey(organizationId, subject), { consistent: true })
      return item && toLimits(item)
    },

    async list({ organizationId, kind, limit, after }) {
      const { pk } = limitsKey(organizationId, { kind: 'tenant', id: '' })
      const prefix = kind && limitsPrefix(kind)
      const { items } = await table.query({
        KeyConditionExpression: `pk = :pk${prefix ? ' AND begins_with(sk, :prefix)' : ''}`,
        ExpressionAttributeValues: { ':pk': pk, ...(prefix && { ':prefix': prefix }) },
        ...(after && { ExclusiveStartKey: limitsKey(organizationId, fromOrder(after.order)) }),
        ConsistentRead: true,
        // One more shows whether there is a next page.
        Limit: limit + 1,
      })
      const page = items
        .slice(0, limit)
        .map((item) => ({ ...toLimits(item), subject: limitedOf(item as Key) }))
      const last = page.at(-1)
      const next = items.length > limit && last ? { order: orderOf(last.subject) } : null
      return { items: page, next } satisfies Page<unknown>
    },

    async put({ organizationId, subject, limits }) {
      await table.put({ ...limitsKey(organizationId, subject), ...toLimitsItem(limits) })
    },

    async delete({ organizationId, subject }) {
      const key = limitsKey(organizationId, subject)
      if (!(await table.get(key, { consistent: true, attributes: ['pk'] }))) return false
      await table.delete(key)
      return true
    },

    async countRun({ organizationId, subject, minute, max }) {
      const item = await table.update(limitedRunsKey(organizationId, subject, minute), {
        set: timeToLive((minute + 1) * INTERVAL_MS.minute + COUNTER_KEPT_MS),
        add: { runs: 1 },
        condition: { expression: 'attribute_not_exists(#runs) OR #runs < :max', values: { max } },
      })
      return item !== null
    },

    async uncountRun({ organizationId, subject, minute }) {
      const key = limitedRunsKey(organizationId, subject, minute)
      // The SDK repeats a write whose response was lost: the name says that it was carried out.
      const name = `undone_${randomUUID().slice(0, 8)}`
      const condition = { expression: `attribute_not_exists(#${name})` }
      await table.update(key, { set: { [name]: true }, add: { runs: -1 }, condition })
      await table.update(key, { remove: [name] })
    },

    async takeSlot({ max, executionId, now, ...key }) {
      const name = attributeOf(executionId)
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const taken = await readSlots(key)
        // Also if the SDK has repeated a write whose response was lost.
        if (taken.some((slot) => slot.executionId === executionId)) return true
        if (taken.length >= max) {
          if (!(await releaseEnded(key, taken, now))) return false
          continue
        }
        const free = freeShares(max, taken)
        // Two processes that take one for the same execution take it from the same item.
        const chosen = free[shardOf(executionId, free.length)]
        if (!chosen) return false
        const isTaken = await table.update(slotsKey(key.organizationId, key.subject, chosen.number), {
          set: { [name]: now, ...timeToLive(now + SLOTS_KEPT_MS) },
          add: { taken: 1 },
          condition: {
            expression: `attribute_not_exists(#${name}) AND (attribute_not_exists(#taken) OR #taken < :share)`,
            names: ['taken'],
            values: { share: chosen.share },
          },
        })
        if (isTaken) return true
      }
      return false
    },

    async hasSlot({ executionId, ...key }) {
      return (await readSlots(key)).some((slot) => slot.executionId === executionId)
    },

    async releaseSlot({ executionId, takenAt, ...key }) {
      const isOwn = (slot: Slot) => takenAt === undefined || slot.takenAt === takenAt
      const own = (await readSlots(key)).filter((slot) => slot.executionId === executionId && isOwn(slot))
      await Promise.all(own.map((slot) => release(key, slot)))
    },

    async countSlots(key) {
      return (await readSlots(key)).length
    },

    async addSpent({ organizationId, subject, at, costUsd }) {
      const { day, month } = periodsOf(at)
      const shard = Math.floor(Math.random() * SPENT_SHARDS)
      const cost = Math.round(costUsd * NANO_USD)
      if (cost === 0) return
      await table.update(spentKey(organizationId, subject, month, shard), {
        set: timeToLive(at + SPENT_KEPT_MS),
        add: { month: cost, [dayAttribute(day)]: cost },
      })
    },

    async getSpent({ organizationId, subject, at }) {
      const { day, month } = periodsOf(at)
      const keys = Array.from({ length: SPENT_SHARDS }, (_, shard) =>
        spentKey(organizationId, subject, month, shard),
      )
      const attributes = ['month', dayAttribute(day)]
      const items = await table.getMany(keys, { consistent: true, attributes })
      const sumOf = (name: string) => items.reduce((sum, item) => sum + Number(item[name] ?? 0), 0) / NANO_USD
      return { day: sumOf(dayAttribute(day)), month: sumOf('month') }
    },

    putWarning: ({ warning }) => table.put(toWarningItem(warning), NOT_EXISTS),

    async getWarning({ organizationId, id }) {
      const item = await table.get(warningKey(id), { consistent: true })
      return item?.organizationId === organizationId ? pick(item as LimitWarning, WARNING) : null
    },
  }
}

const toLimitsItem = ({ maxCostUsd, ...limits }: StoredLimits): Item => ({
  ...withoutNulls(limits),
  maxCostUsd: withoutNulls(maxCostUsd),
})

/** Null is stored as an absent attribute. */
const NO_VALUES = { maxOpenExecutions: null, maxRunsPerMinute: null, warnAt: null }

const toLimits = ({ pk, sk, maxCostUsd, ...limits }: Item): StoredLimits => ({
  ...NO_VALUES,
  ...(limits as Omit<StoredLimits, 'maxCostUsd'>),
  maxCostUsd: { day: null, month: null, ...(maxCostUsd as object) },
})

function fromOrder(order: string): LimitSubject {
  const end = order.indexOf('#')
  return { kind: order.slice(0, end) as LimitSubject['kind'], id: order.slice(end + 1) }
}

/** A slot that is taken. `number`: of its item. `takenAt`: milliseconds since the epoch. */
type Slot = { number: number; executionId: string; takenAt: number }

/** Of the attribute with the time at which an execution has taken its slot: names in expressions have no hyphens. */
const attributeOf = (executionId: string): string => `${SLOT}${executionId.replaceAll('-', '_')}`
const SLOT = 'slot_'

function toSlots(item: Item): Slot[] {
  const names = Object.keys(item).filter((name) => name.startsWith(SLOT))
  return names.map((name) => ({
    number: slotsNumberOf(item as Key),
    executionId: name.slice(SLOT.length).replaceAll('_', '-'),
    takenAt: Number(item[name]),
  }))
}

/**
 * The items with a free slot. What an item holds above its share, since `max` was lowered, is taken from the shares of
 * the last items, which may then hold more than is left to them. Nobody takes a slot of these: a share that was read
 * only grows afterwards, so that nobody takes too many at the same time, and together the shares are `max`.
 */
function freeShares(max: number, taken: Slot[]): { number: number; share: number }[] {
  const counts = new Map<number, number>()
  for (const { number } of taken) counts.set(number, (counts.get(number) ?? 0) + 1)
  const full = sharesOf(max)
  const reduce = (excess: number) =>
    full
      .toReversed()
      .map(({ number, share }) => {
        const missing = Math.min(share, excess)
        excess -= missing
        return { number, share: share - missing }
      })
      .toReversed()
  let shares = full
  for (let excess = 0; ; ) {
    const sum = [...counts].reduce(
      (all, [number, count]) => all + Math.max(count - (shares[number]?.share ?? 0), 0),
      0,
    )
    if (sum === excess) break
    excess = sum
    shares = reduce(excess)
  }
  return shares.filter(({ number, share }) => (counts.get(number) ?? 0) < share)
}

/** How many slots each item may have: with a higher `max`, none has fewer. */
const sharesOf = (max: number): { number: number; share: number }[] =>
  Array.from({ length: Math.ceil(max / SLOTS_PER_ITEM) }, (_, number) => ({
    number,
    share: Math.min(max - number * SLOTS_PER_ITEM, SLOTS_PER_ITEM),
  }))

/** Some of the entries, chosen at random. */
const sample = <T>(entries: T[], count: number): T[] =>
  entries
    .map((entry) => ({ entry, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ entry }) => entry)

const dayAttribute = (day: string): string => `day${day.slice(-2)}`

const WARNING = [
  'id',
  'organizationId',
  'subject',
  'period',
  'limitUsd',
  'spentUsd',
  'warnAt',
  'at',
] as const satisfies (keyof LimitWarning)[]

const toWarningItem = (warning: LimitWarning): Item => ({
  ...warningKey(warning.id),
  ...warning,
  openShard: outboxShard(shardOf(warning.id, OUTBOX_SHARDS)),
  openUntil: Date.parse(warning.at),
})
