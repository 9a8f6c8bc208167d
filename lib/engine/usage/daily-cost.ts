import { DEPLOYMENT, INTERVAL_MS } from '../../core/usage.ts'
import type { UsageStores } from './read-usage.ts'

/** US dollars. `lastDay`: of the last 24 full hours. `usual`: of an average day of the week before. */
export type DailyCost = { lastDay: number; usual: number }

/** With how many earlier days a day is compared: as many as there are working days and weekends of. */
const COMPARED_DAYS = 7

/** How to read what a day costs all organizations together; null while no hour is final. */
export function openDailyCost({ usage }: Pick<UsageStores, 'usage'>): () => Promise<DailyCost | null> {
  let last: { hour: number; cost: DailyCost } | undefined
  return async () => {
    const hour = (await usage.getPosition())?.hour
    if (hour === undefined) return null
    // It changes once an hour.
    if (last?.hour !== hour) last = { hour, cost: await readDailyCost({ usage }, hour) }
    return last.cost
  }
}

/** @param to the end of the last full hour */
async function readDailyCost({ usage }: Pick<UsageStores, 'usage'>, to: number): Promise<DailyCost> {
  const from = to - (COMPARED_DAYS + 1) * INTERVAL_MS.day
  const costs: number[] = []
  const hours = usage.read({ organizationId: DEPLOYMENT, interval: 'hour', from, to })
  for await (const { start, rows } of hours) {
    const age = Math.floor((to - 1 - start) / INTERVAL_MS.day)
    const cost = rows.reduce((sum, row) => sum + row.costNanoUsd, 0) / 1e9
    costs[age] = (costs[age] ?? 0) + cost
  }
  const [lastDay = 0, ...earlier] = costs
  // Days before the first one with runs do not count: the service may not have existed.
  const total = earlier.reduce((sum, cost = 0) => sum + cost, 0)
  return { lastDay, usual: earlier.length > 0 ? total / earlier.length : 0 }
}
