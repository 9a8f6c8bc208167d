import { AUDIT_EVENT, type SubjectEvent } from '../../../core/notification.ts'
import { addressedTo, type ReadSubject } from './event-subject.ts'

/** No change takes longer: a function may run for 15 minutes. */
const MAX_CHANGE_MS = 15 * 60_000

/** Of an entry of the audit log: itself, once it has a result, or will have none any more. @throws Unavailable */
export const readAuditEvents: ReadSubject = async ({ audit, deliveries, system }, key) => {
  const entry = await audit.get(key)
  if (!entry) return null
  const { id, organizationId, at, result } = entry
  const subject = { kind: 'audit' as const, id }
  const isOver = result !== 'STARTED' || system.now() - Date.parse(at) > MAX_CHANGE_MS
  const event: SubjectEvent = { subject, organizationId, revision: 1, type: AUDIT_EVENT, occurredAt: at }
  return {
    // No webhook can select it.
    addressed: addressedTo(organizationId),
    events: isOver ? [event] : [],
    dataOf: () => JSON.stringify(entry),
    // Otherwise, the sweeper asks again.
    setHandled: async () => (isOver ? deliveries.setHandled(subject) : undefined),
  }
}
