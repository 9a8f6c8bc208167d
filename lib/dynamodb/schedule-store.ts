import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../core/json/json.ts'
import { parseStoredJson } from '../core/json/parse-json.ts'
import type { ScheduleStore } from '../core/ports/schedules.ts'
import { MAX_SCHEDULES, type Schedule } from '../core/schedule.ts'
import { isOwnedBy } from './agent-item.ts'
import { withoutNulls } from './executions/execution-item.ts'
import { allOf } from './table/expressions.ts'
import { type Key, SCHEDULE_PREFIX, scheduleKey, schedulesKey, timerShardOf } from './table/keys.ts'
import { fitPage } from './table/sharded-list.ts'
import { orCorrupt, readText, type StoredText, textBytes, toStoredText } from './table/stored-text.ts'
import { type Condition, type Item, NOT_EXISTS, type Table } from './table/table.ts'

/**
 * Schedules: an item each, and those of an agent in one partition. The item with all names limits their number: it is
 * written after a new schedule and before a deletion. A process that dies in between leaves one that is not counted.
 */
export function scheduleStore(table: Table): ScheduleStore {
  const read = (agentId: string, name: string) => table.get(scheduleKey(agentId, name), { consistent: true })

  return {
    async put({ schedule, replaces }) {
      const { agentId, name } = schedule
      const stored = { ...schedule, revision: randomUUID() }
      const isStored = await table.put(toItem(stored), replaces ? isStill(replaces) : NOT_EXISTS)
      // The SDK may have repeated a write whose response was lost.
      if (!isStored && (await read(agentId, name))?.revision !== stored.revision) return 'changed'
      if (replaces) return stored
      const isCounted = await table.update(schedulesKey(agentId), {
        include: { names: new Set([name]) },
        condition: mayAdd(name),
      })
      if (isCounted) return stored
      await table.delete(scheduleKey(agentId, name), isStill(stored))
      return 'full'
    },

    async get({ organizationId, agentId, name }) {
      const item = await read(agentId, name)
      return item?.organizationId === organizationId ? fromItem(item) : null
    },

    async list({ organizationId, agentId, limit, after }) {
      // BETWEEN includes the position, which is not on the page. One more item shows whether there is a next page.
      const { items, lastKey } = await table.query({
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
        ExpressionAttributeValues: {
          ':pk': scheduleKey(agentId, '').pk,
          ':first': `${SCHEDULE_PREFIX}${after?.order ?? ''}`,
          ':last': `${SCHEDULE_PREFIX}~`,
        },
        ConsistentRead: true,
        Limit: limit + 2,
      })
      const following = items.filter(
        (item) => item.name !== after?.order && item.organizationId === organizationId,
      )
      const page = fitPage(following.slice(0, limit), ({ input }) => textBytes(input as StoredText))
      const last = page.at(-1)
      const hasMore = page.length < following.length || lastKey !== null
      return { items: page.map(fromItem), next: hasMore && last ? { order: String(last.name) } : null }
    },

    async delete({ organizationId, agentId, name, onlyDeclared }) {
      const item = await read(agentId, name)
      if (item?.organizationId !== organizationId || (onlyDeclared && !item.isDeclared)) return false
      await table.update(schedulesKey(agentId), {
        exclude: { names: new Set([name]) },
        condition: { expression: 'contains(#names, :name)', names: ['names'], values: { name } },
      })
      const condition = allOf(isOwnedBy(organizationId), onlyDeclared ? IS_DECLARED : null)
      await table.delete(scheduleKey(agentId, name), condition)
      return true
    },
  }
}

const isStill = ({ revision: read }: Pick<Schedule, 'revision'>): Condition => ({
  expression: '#revision = :read',
  names: ['revision'],
  values: { read },
})

const IS_DECLARED: Condition = {
  expression: '#isDeclared = :true',
  names: ['isDeclared'],
  values: { true: true },
}

/** Also if it was added by a request whose response was lost. */
const mayAdd = (name: string): Condition => ({
  expression: 'attribute_not_exists(#names) OR size(#names) < :max OR contains(#names, :name)',
  names: ['names'],
  values: { max: MAX_SCHEDULES, name },
})

const toItem = ({ input, ...schedule }: Schedule): Item => ({
  ...scheduleKey(schedule.agentId, schedule.name),
  ...withoutNulls(schedule),
  input: toStoredText(JSON.stringify(input)),
  ...(schedule.openUntil !== null && { openShard: timerShardOf(schedule.agentId) }),
})

/** Null is stored as an absent attribute. */
const NO_VALUES = {
  tenantId: null,
  versionId: null,
  tokenId: null,
  nextRunAt: null,
  openUntil: null,
  waitsUntil: null,
  lastExecutionId: null,
}

function fromItem({ pk, sk, openShard: _, input, ...schedule }: Item): Schedule {
  const key = { pk, sk } as Key
  const json = readText(input as StoredText, key)
  const parsed = orCorrupt(key, () => parseStoredJson(json) as JsonObject)
  return { ...NO_VALUES, ...(schedule as Omit<Schedule, 'input'>), input: parsed }
}
