import type { SubjectKey } from '../../core/ports/usage.ts'
import { NANO_USD } from '../../core/usage.ts'
import { beginningOf, type Spent } from '../../core/usage-limits.ts'
import { readTotals, type UsageStores } from './read-usage.ts'

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
