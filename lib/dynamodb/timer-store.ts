import type { Timer, TimerStore } from '../core/ports/waits.ts'
import { dueBefore, TIMER_PARTITIONS, toStale } from './executions/open-executions.ts'
import {
  agentIdOf,
  batchIdOf,
  batchKey,
  deliveryIdOf,
  deliveryKey,
  type Key,
  scheduleIdOf,
  scheduleKey,
} from './table/keys.ts'
import { type Item, queryTogether, type Table } from './table/table.ts'

/** Timers that one query reads of a shard: 16,000 of all of them are some megabytes. */
const TIMER_PAGE = 1_000

/** The shards `TIMER#<n>` of the index `open-executions`. */
export function timerStore(table: Table): TimerStore {
  return {
    async *read({ before }) {
      const queries = TIMER_PARTITIONS.map((partition) => ({
        ...dueBefore(partition, before),
        Limit: TIMER_PAGE,
      }))
      for await (const pages of queryTogether(table, queries))
        yield pages
          .flat()
          .map(toTimer)
          .sort((a, b) => a.openUntil - b.openUntil)
    },

    async postpone({ timer, until }) {
      const condition = {
        expression: '#openUntil = :dueAt',
        names: ['openUntil'],
        values: { dueAt: timer.openUntil },
      }
      return (await table.update(keyOf(timer), { set: { openUntil: until }, condition })) !== null
    },
  }
}

function toTimer(item: Item): Timer {
  const key = item as Key
  const stale = toStale(item)
  const { id: executionId, organizationId, tenantId, openUntil } = stale
  const delivery = deliveryIdOf(key)
  if (delivery) return { kind: 'delivery', openUntil, message: { organizationId, ...delivery } }
  const batchId = batchIdOf(key)
  if (batchId !== null) return { kind: 'batch', openUntil, message: { batchId, organizationId } }
  const schedule = scheduleIdOf(key)
  if (schedule)
    return { kind: 'schedule', openUntil, message: { organizationId, ...schedule, at: openUntil } }
  const agentId = agentIdOf(key)
  if (agentId !== null) return { kind: 'agent', openUntil, message: { organizationId, agentId } }
  const message = { executionId, organizationId, tenantId, wakes: true }
  return { kind: 'execution', openUntil, message, stale }
}

function keyOf(timer: Parameters<TimerStore['postpone']>[0]['timer']): Key {
  switch (timer.kind) {
    case 'delivery':
      return deliveryKey(timer.message)
    case 'batch':
      return batchKey(timer.message.batchId)
    case 'schedule':
      return scheduleKey(timer.message.agentId, timer.message.schedule)
  }
}
