import * as z from 'zod'
import {
  type Delivery,
  EVENT_SOURCES,
  EVENT_TYPES,
  eventIdOf,
  type Subject,
  type Webhook,
} from '../../core/notification.ts'
import { nullableTime, schema } from './fields.ts'

const secret = /* @__PURE__ */ schema(() =>
  z
    .string()
    .describe(
      'Signs the deliveries (Standard Webhooks 1.0.0). It is shown once: store it where receivers read it.',
    ),
)

const webhook = /* @__PURE__ */ schema(() =>
  z.object({
    id: z.uuid(),
    url: z.string(),
    types: z.array(z.enum(EVENT_TYPES)),
    agents: z.array(z.uuid()).nullable().describe('IDs of agents. Null: all of them.'),
    tenants: z.array(z.string()).nullable().describe('Null: with and without a tenant.'),
    sources: z.array(z.enum(EVENT_SOURCES)).nullable().describe('Null: all of them.'),
    allowedHosts: z.array(z.string()),
    enabled: z.boolean(),
    disabledReason: z
      .enum(['gone', 'failing'])
      .nullable()
      .describe('Why the service has disabled it: the receiver answered 410, or failed for three days.'),
    failingSince: nullableTime.describe('Since when all deliveries have failed.'),
    createdAt: z.iso.datetime(),
  }),
)

export const webhookRecord = /* @__PURE__ */ schema(() => webhook.meta({ id: 'Webhook' }))

export const createdWebhookRecord = /* @__PURE__ */ schema(() =>
  webhook.extend({ secret }).meta({ id: 'CreatedWebhook' }),
)

export const rotatedSecretRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      id: z.string().describe('The ID of the webhook, or `default`.'),
      secret,
      previousSecretExpiresAt: nullableTime.describe(
        'Until then, deliveries are also signed with the previous secret. Null: there was none.',
      ),
    })
    .meta({ id: 'RotatedSecret' }),
)

export const deliveryRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      id: z.string().describe('The ID of the event: the header `webhook-id`.'),
      webhookId: z.string().describe('The ID of the webhook, or `default`.'),
      executionId: z.string().nullable().describe('The execution that the event is about.'),
      batchId: z.string().nullable().describe('The batch that the event is about.'),
      type: z.string().describe('The type of the event.'),
      occurredAt: z.iso.datetime().describe('The `timestamp` of the event.'),
      status: z
        .enum(['PENDING', 'DELIVERED', 'FAILED'])
        .describe('`PENDING`: it is tried again. `FAILED`: it is not, unless it is redelivered.'),
      attempts: z.int(),
      createdAt: z.iso.datetime().describe('The time of the first attempt.'),
      attemptedAt: z.iso.datetime().describe('The time of the last attempt.'),
      nextAttemptAt: nullableTime,
      responseStatus: z.int().nullable().describe('The status of the last answer. Null without one.'),
      error: z.string().nullable().describe('What was wrong with the last attempt.'),
    })
    .meta({ id: 'Delivery' }),
)

export const testResultRecord = /* @__PURE__ */ schema(() =>
  z
    .object({
      delivered: z.boolean(),
      responseStatus: z.int().nullable().describe('The status of the answer. Null without one.'),
      error: z.string().nullable(),
    })
    .meta({ id: 'TestResult' }),
)

export type TestResultRecord = z.infer<typeof testResultRecord>
export type WebhookRecord = z.infer<typeof webhookRecord>
export type DeliveryRecord = z.infer<typeof deliveryRecord>

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
