import { randomUUID } from 'node:crypto'
import type { Page } from '../core/ports/system.ts'
import type { LimitStore } from '../core/ports/usage.ts'
import { INTERVAL_MS, NANO_USD } from '../core/usage.ts'
import {
  type LimitSubject,
  type LimitWarning,
  orderOf,
  periodsOf,
  type StoredLimits,
} from '../core/usage-limits.ts'
import { withoutNulls } from './executions/execution-item.ts'
import { slotStore } from './slot-store.ts'
import {
  type Key,
  limitedOf,
  limitedRunsKey,
  limitsKey,
  limitsPrefix,
  outboxKeys,
  SPENT_SHARDS,
  spentKey,
  warningKey,
} from './table/keys.ts'
import { timeToLive } from './table/retention.ts'
import { type Item, NOT_EXISTS, pick, type Table } from './table/table.ts'

/** Of the counters of runs: long enough for clocks that differ. */
const COUNTER_KEPT_MS = INTERVAL_MS.minute
/** Of what was spent: what an operator may look up. */
const SPENT_KEPT_MS = 400 * INTERVAL_MS.day

/** Limits: an item each, and those of an organization in one partition. */
export function limitStore(table: Table): LimitStore {
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

    ...slotStore(table),

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
  ...outboxKeys(warning.id, Date.parse(warning.at)),
})
