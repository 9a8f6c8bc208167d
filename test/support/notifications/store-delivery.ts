import { eventIdOf } from '../../../lib/core/notification.ts'
import { deliveryStore } from '../../../lib/dynamodb/delivery-store.ts'
import { sharedTable } from '../engine/organization.ts'

type Ids = { organizationId: string; executionId: string; destinationId: string }

/** Stores a delivery of the end of an execution that has failed. @returns its id */
export async function storeDelivery({ executionId, ...ids }: Ids): Promise<string> {
  const now = new Date().toISOString()
  const subject = { kind: 'execution' as const, id: executionId }
  const event = { ...ids, subject, revision: 2, type: 'execution.succeeded' as const, occurredAt: now }
  const attempt = { attempts: 1, createdAt: now, attemptedAt: now, nextAttemptAt: null }
  const result = { status: 'FAILED' as const, responseStatus: 500, error: 'The receiver answered 500.' }
  const delivery = { ...event, ...attempt, ...result }
  await deliveryStore(sharedTable()).put({ delivery, attempts: 0, dueAt: null })
  return eventIdOf(event)
}
