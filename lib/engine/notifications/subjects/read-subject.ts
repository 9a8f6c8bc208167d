import type { Subject } from '../../../core/notification.ts'
import type { DeliveryEngine } from '../open-delivery-engine.ts'
import { readAuditEvents } from './audit-events.ts'
import { readBatchEvents } from './batch-events.ts'
import type { EventSubject, ReadSubject } from './event-subject.ts'
import { readExecutionEvents } from './execution-events.ts'
import { readLimitEvents } from './limit-events.ts'
import { readRolloutEvents } from './rollout-events.ts'

const READERS: Record<Subject['kind'], ReadSubject> = {
  execution: readExecutionEvents,
  batch: readBatchEvents,
  limit: readLimitEvents,
  rollout: readRolloutEvents,
  audit: readAuditEvents,
}

/** Null if it is deleted, or of another organization. @throws Unavailable */
export const readSubject = (
  engine: DeliveryEngine,
  { subject, organizationId }: { subject: Subject; organizationId: string },
): Promise<EventSubject | null> => READERS[subject.kind](engine, { organizationId, id: subject.id })
