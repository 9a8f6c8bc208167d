import type { DeliveryRecord, WebhookRecord } from '../../../lib/contract/records/webhook.ts'
import { idOf } from './records.ts'

const WEBHOOK_ID = idOf(500)

export const aWebhook = (overrides: Partial<WebhookRecord> = {}): WebhookRecord => ({
  id: WEBHOOK_ID,
  url: 'https://shop.example/events?key=hidden',
  types: ['execution.succeeded', 'execution.failed', 'execution.cancelled', 'execution.waiting'],
  ...{ agents: null, tenants: null, sources: null, allowedHosts: [] },
  ...{ enabled: true, disabledReason: null, failingSince: null },
  createdAt: '2026-11-20T09:00:00.000Z',
  ...overrides,
})

/** @param number a higher one is older */
export const aDelivery = (number: number, overrides: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  id: `evt_${idOf(1_000_000 - number)}_2`,
  webhookId: WEBHOOK_ID,
  executionId: idOf(1_000_000 - number),
  batchId: null,
  type: 'execution.succeeded',
  occurredAt: '2026-11-20T09:00:00.000Z',
  status: 'DELIVERED',
  attempts: 1,
  createdAt: '2026-11-20T09:00:01.000Z',
  attemptedAt: '2026-11-20T09:00:01.000Z',
  nextAttemptAt: null,
  responseStatus: 204,
  error: null,
  ...overrides,
})
