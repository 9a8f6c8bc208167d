import { DEPLOYMENT, INTERVAL_MS, NANO_USD, startOf, USAGE_RANGES } from '../../core/usage.ts'
import type { UsageStores } from './read-totals.ts'

/**
 * US dollars. `lastDay`: of the last 24 full hours. `usual`: of an average day of the week before, from the first run
 * on; null if that was less than a day before.
 */
export type DailyCost = { lastDay: number; usual: number | null }

/** With how many earlier days a day is compared: as many as there are working days and weekends of. */
const COMPARED_DAYS = 7
const DAY = INTERVAL_MS.day

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
  const lastDayFrom = to - DAY
  const from = lastDayFrom - COMPARED_DAYS * DAY
  let first = (await hasRunBefore({ usage }, from)) ? from : Number.POSITIVE_INFINITY
  let [lastDay, earlier] = [0, 0]
  for await (const { start, rows } of usage.read({
    organizationId: DEPLOYMENT,
    interval: 'hour',
    from,
    to,
  })) {
    const cost = rows.reduce((sum, row) => sum + row.costNanoUsd, 0) / NANO_USD
    first = Math.min(first, start)
    if (start < lastDayFrom) earlier += cost
    else lastDay += cost
  }
  // The service may not have existed before its first run.
  const days = (lastDayFrom - first) / DAY
  return { lastDay, usual: days >= 1 ? earlier / days : null }
}

/** Whether anything is counted on a day that had ended by then. */
async function hasRunBefore({ usage }: Pick<UsageStores, 'usage'>, time: number): Promise<boolean> {
  const range = { from: time - USAGE_RANGES.hour.keptMs, to: startOf('day', time) }
  for await (const _ of usage.read({ organizationId: DEPLOYMENT, interval: 'day', ...range })) return true
  return false
}
