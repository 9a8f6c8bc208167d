import type { Batch } from '../../../core/batch.ts'
import type { SubjectEvent } from '../../../core/notification.ts'
import type { Addressed } from '../destinations.ts'
import type { ReadSubject } from './event-subject.ts'

/** Of a batch: its end. @throws Unavailable */
export const readBatchEvents: ReadSubject = async ({ batches, deliveries, toBatchRecord }, key) => {
  const batch = await batches.get(key)
  const subject = { kind: 'batch' as const, id: key.id }
  return (
    batch && {
      addressed: addressedOf(batch),
      events: eventsOf(batch),
      dataOf: () => JSON.stringify(toBatchRecord(batch)),
      async setHandled() {
        if (!batch.endedAt) return
        await deliveries.setHandled(subject)
        // A deletion that began meanwhile may have found no deliveries yet.
        if (!(await batches.get(key))) await deliveries.deleteOf(subject)
      },
    }
  )
}

/** Webhooks select it like the executions of its lines. */
export const addressedOf = (batch: Batch): Addressed => ({
  ...batch,
  source: batch.trial ? 'TRIAL' : 'BATCH',
  parentExecutionId: null,
})

function eventsOf({ id, organizationId, endedAt }: Batch): SubjectEvent[] {
  if (!endedAt) return []
  const subject = { kind: 'batch' as const, id }
  return [{ subject, organizationId, revision: 1, type: 'batch.ended', occurredAt: endedAt }]
}
