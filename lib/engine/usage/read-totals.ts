import type { System } from '../../core/ports/system.ts'
import type { SubjectKey, UsageStore } from '../../core/ports/usage.ts'
import { NANO_USD, startOf, USAGE_RANGES, type UsageInterval } from '../../core/usage.ts'
import { beginningOf, type Spent } from '../../core/usage-limits.ts'

export type UsageStores = { usage: Pick<UsageStore, 'read' | 'getPosition'>; system: Pick<System, 'now'> }

export type Range = { interval: UsageInterval; from: number; to: number }

/** The totals that are kept for shorter intervals, from the longest on. */
const PARTS = { day: ['day', 'hour', 'minute'], hour: ['hour', 'minute'], minute: ['minute'] } as const

/**
 * Totals in the order of their times, in parts that are as long as an interval or shorter: the intervals whose totals
 * are final, then what there is of the others.
 */
export async function* readTotals(
  { usage, system }: UsageStores,
  { organizationId, interval, from, to }: Range & { organizationId: string },
): ReturnType<UsageStore['read']> {
  const position = await usage.getPosition()
  let begin = from
  for (const part of PARTS[interval]) {
    begin = Math.max(begin, system.now() - USAGE_RANGES[part].keptMs)
    const end = part === 'minute' ? to : Math.min(position?.[part] ?? 0, to)
    if (begin >= end) continue
    yield* usage.read({ organizationId, interval: part, from: startOf(part, begin), to: end })
    begin = end
  }
}

/**
 * What the runs of a tenant or an agent that have ended in the day and the month of now have cost, in US dollars. Those
 * of the last minutes can be missing.
 */
export async function readCost(stores: UsageStores, { organizationId, subject }: SubjectKey): Promise<Spent> {
  const now = stores.system.now()
  const [day, from] = [beginningOf('day', now), beginningOf('month', now)]
  const isOf = ({ tenantId, agentId }: { tenantId: string | null; agentId: string }) =>
    subject.id === (subject.kind === 'tenant' ? tenantId : agentId)
  const spent = { day: 0, month: 0 }
  const parts = readTotals(stores, { organizationId, interval: 'day', from, to: now + 1 })
  for await (const { start, rows } of parts) {
    const cost = rows.filter(isOf).reduce((sum, row) => sum + row.costNanoUsd, 0)
    spent.month += cost
    if (start >= day) spent.day += cost
  }
  return { day: spent.day / NANO_USD, month: spent.month / NANO_USD }
}
