import type { LimitStore, SubjectKey } from '../core/ports/usage.ts'
import { INTERVAL_MS } from '../core/usage.ts'
import { executionIdOf, executionKey, type Key, shardOf, slotsKey, slotsNumberOf } from './table/keys.ts'
import { timeToLive } from './table/retention.ts'
import { type Item, queryPages, type Table } from './table/table.ts'

/** Longer than any execution can last. */
const SLOTS_KEPT_MS = 400 * INTERVAL_MS.day
/** Longer than a process takes from the slot of an execution to its record. */
const UNRECORDED_MS = 10 * INTERVAL_MS.minute

/** Slots in one item: as many as keep it below 1 kB, so that taking and releasing one is a write unit each. */
const SLOTS_PER_ITEM = 16
/** Slots that are looked at when all are taken, in the hope that their executions have ended. */
const MAX_CHECKED = 25
const MAX_ATTEMPTS = 10

type Slots = Pick<LimitStore, 'takeSlot' | 'hasSlot' | 'releaseSlot' | 'countSlots'>

/**
 * Slots: a few items for each subject, with an attribute for each execution that has one and their number, which change
 * together.
 */
export function slotStore(table: Table): Slots {
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
  }
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
