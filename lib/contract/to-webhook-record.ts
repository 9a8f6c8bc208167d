import { type Delivery, eventIdOf, type Subject, type Webhook } from '../core/notification.ts'
import type { DeliveryRecord, WebhookRecord } from './records/webhook-record.ts'

export const toWebhookRecord = (webhook: Webhook): WebhookRecord => ({
  id: webhook.id,
  url: webhook.url,
  types: webhook.types,
  agents: webhook.agentIds,
  tenants: webhook.tenantIds,
  sources: webhook.sources as WebhookRecord['sources'],
  allowedHosts: webhook.allowedHosts,
  enabled: webhook.enabled,
  disabledReason: webhook.disabledReason,
  failingSince: webhook.failingSince,
  createdAt: webhook.createdAt,
})

export const toDeliveryRecord = (delivery: Delivery): DeliveryRecord => ({
  id: eventIdOf(delivery),
  webhookId: delivery.destinationId,
  executionId: idOf(delivery, 'execution'),
  batchId: idOf(delivery, 'batch'),
  type: delivery.type,
  occurredAt: delivery.occurredAt,
  status: delivery.status,
  attempts: delivery.attempts,
  createdAt: delivery.createdAt,
  attemptedAt: delivery.attemptedAt,
  nextAttemptAt: delivery.nextAttemptAt,
  responseStatus: delivery.responseStatus,
  error: delivery.error,
})

const idOf = ({ subject }: Delivery, kind: Subject['kind']) => (subject.kind === kind ? subject.id : null)
