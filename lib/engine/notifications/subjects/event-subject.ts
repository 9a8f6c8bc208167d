import type { SubjectEvent } from '../../../core/notification.ts'
import type { Addressed } from '../destinations.ts'
import type { DeliveryEngine } from '../open-delivery-engine.ts'

/** For what belongs to an organization, and to no agent or tenant. */
export const addressedTo = (organizationId: string): Addressed => ({
  organizationId,
  agentId: null,
  tenantId: null,
  source: null,
  webhookUrl: null,
  parentExecutionId: null,
  isDraft: false,
})

/** What has events, as it was read to deliver them. */
export type EventSubject = {
  addressed: Addressed
  /** Those that destinations may not have been told of. */
  events: SubjectEvent[]
  /** JSON of the record that clients see, as it was at the time of the event. */
  dataOf(event: SubjectEvent): string
  /** All events have deliveries. @throws Unavailable */
  setHandled(): Promise<void>
}

/** Null if it is deleted, or of another organization. */
export type ReadSubject = (
  engine: DeliveryEngine,
  key: { organizationId: string; id: string },
) => Promise<EventSubject | null>
