import { EVENT_TYPES, eventIdOf, type Subject, type Webhook } from '../../../lib/core/notification.ts'
import { deliveryStore } from '../../../lib/dynamodb/delivery-store.ts'
import { system } from '../../../lib/system.ts'
import { sharedTable } from '../engine/organization.ts'

/** A new webhook that selects every event. */
export const aWebhook = (overrides: Partial<Webhook> = {}): Webhook => ({
  id: system.newId(),
  organizationId: system.newId(),
  url: 'https://receiver.example/',
  types: [...EVENT_TYPES],
  agentIds: null,
  tenantIds: null,
  sources: null,
  allowedHosts: [],
  enabled: true,
  disabledReason: null,
  failingSince: null,
  createdAt: new Date().toISOString(),
  ...overrides,
})

type Ids = { organizationId: string; destinationId: string; executionId?: string; batchId?: string }

/** Stores a delivery of the end of an execution or a batch that has failed. @returns its id */
export async function storeDelivery({ executionId = '', batchId, ...ids }: Ids): Promise<string> {
  const now = new Date().toISOString()
  const subject: Subject = batchId ? { kind: 'batch', id: batchId } : { kind: 'execution', id: executionId }
  const type = batchId ? ('batch.ended' as const) : ('execution.succeeded' as const)
  const event = { ...ids, subject, revision: batchId ? 1 : 2, type, occurredAt: now }
  const attempt = { attempts: 1, createdAt: now, attemptedAt: now, nextAttemptAt: null }
  const result = { status: 'FAILED' as const, responseStatus: 500, error: 'The receiver answered 500.' }
  const delivery = { ...event, ...attempt, ...result }
  await deliveryStore(sharedTable()).put({ delivery, attempts: 0, dueAt: null })
  return eventIdOf(event)
}
