import { derivedId } from '../../core/ids.ts'
import type { EventType } from '../../core/notification.ts'
import type { DeliveryMessage } from '../../core/ports/queues.ts'
import type { System } from '../../core/ports/system.ts'
import type { LimitStore } from '../../core/ports/usage.ts'
import { NANO_USD } from '../../core/usage.ts'
import { type CostPeriod, type LimitWarning, periodsOf, type Spending } from '../../core/usage-limits.ts'
import type { Addressed } from './destinations.ts'
import { addressedOfLimit } from './destinations.ts'

type Parts = {
  limits: Pick<LimitStore, 'putWarning'>
  system: Pick<System, 'now'>
  isWanted(addressed: Addressed, type: EventType): Promise<boolean>
  send(message: DeliveryMessage): Promise<void>
  /** The ids of warnings that exist. Kept by the caller. */
  written: { has(id: string): boolean; set(id: string, value: true): unknown }
}

/**
 * Writes the warning of each cost limit that is used up to `warnAt`, if a destination wants it, and starts its
 * delivery. There is one for each subject, period and value of the limit: its id derives from these. Any later call
 * repeats what has failed, and the sweeper delivers what was written.
 * @throws Unavailable
 */
export async function writeWarnings(parts: Parts, spending: Spending): Promise<void> {
  const { limits, system, isWanted, send, written } = parts
  const { organizationId } = spending
  for (const warning of warningsOf(spending, new Date(system.now()).toISOString())) {
    const { id } = warning
    if (written.has(id) || !(await isWanted(addressedOfLimit(warning), 'limit.warning'))) continue
    const isFirst = await limits.putWarning({ warning })
    written.set(id, true)
    if (isFirst) await send({ subject: { kind: 'limit', id }, organizationId })
  }
}

/** In billionths of a dollar, which costs are exact to: 0.8 * 0.05 is more than 0.04. */
const dueNanoUsd = (warnAt: number, limitUsd: number): number =>
  Math.max(Math.round(warnAt * limitUsd * NANO_USD), 1)

/** @param at when they are written. ISO 8601 */
function warningsOf(
  { organizationId, subject, limits, spent, at: spentAt }: Spending,
  at: string,
): LimitWarning[] {
  const { maxCostUsd, warnAt } = limits
  if (warnAt === null) return []
  return (['day', 'month'] satisfies CostPeriod[]).flatMap((period) => {
    const limitUsd = maxCostUsd[period]
    const spentUsd = spent[period]
    if (limitUsd === null || Math.round(spentUsd * NANO_USD) < dueNanoUsd(warnAt, limitUsd)) return []
    const start = periodsOf(spentAt)[period]
    const name = [organizationId, start, limitUsd, subject.kind, subject.id].join('/')
    const id = derivedId(Date.parse(start), name)
    return [{ id, organizationId, subject, period, limitUsd, spentUsd, warnAt, at }]
  })
}
