import { type LimitWarning, ownerOf } from '../../../core/usage-limits.ts'
import type { Addressed } from '../destinations.ts'
import { addressedTo, type ReadSubject } from './event-subject.ts'

/** Of a cost limit: its warning. @throws Unavailable */
export const readLimitEvents: ReadSubject = async ({ limits, deliveries }, key) => {
  const warning = await limits.getWarning(key)
  if (!warning) return null
  const { id, organizationId, at } = warning
  const subject = { kind: 'limit' as const, id }
  return {
    addressed: addressedOf(warning),
    events: [{ subject, organizationId, revision: 1, type: 'limit.warning', occurredAt: at }],
    dataOf: () => JSON.stringify(dataOf(warning)),
    setHandled: () => deliveries.setHandled(subject),
  }
}

/** Webhooks select it by its tenant or its agent. */
export const addressedOf = ({
  organizationId,
  subject,
}: Pick<LimitWarning, 'organizationId' | 'subject'>): Addressed => ({
  ...addressedTo(organizationId),
  ...ownerOf(subject),
})

const dataOf = ({ id, subject, period, limitUsd, spentUsd, warnAt, at }: LimitWarning) => ({
  id,
  ...ownerOf(subject),
  ...{ period, limitUsd, spentUsd, warnAt, at },
})
