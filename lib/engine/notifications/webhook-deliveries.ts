import { mayUseAgent } from '../../access/permissions.ts'
import type { Access } from '../../core/access.ts'
import { BY_DELIVERY, type PageQuery, parsePage } from '../../core/cursor.ts'
import { type Delivery, type DeliveryResult, parseEventId } from '../../core/notification.ts'
import type { DeliveryStore, WebhookStore } from '../../core/ports/notifications.ts'
import type { Page } from '../../core/ports/system.ts'
import { DeliveryNotFound } from '../../core/resource-errors.ts'
import { redeliver } from './deliver.ts'
import type { Addressed } from './destinations.ts'
import type { DeliveryEngine } from './open-delivery-engine.ts'
import { readSubject } from './subjects.ts'
import { getWebhook, resolveDestination, type WebhookReference } from './webhooks.ts'

/** @throws WebhookNotFound, Forbidden, InvalidCursor */
export async function listDeliveries(
  stores: { webhooks: WebhookStore; deliveries: Pick<DeliveryStore, 'list'> },
  { page, ...reference }: WebhookReference & { page: PageQuery },
): Promise<Page<Delivery>> {
  const request = parsePage(page, BY_DELIVERY)
  const destinationId = await resolveDestination(stores, reference)
  return stores.deliveries.list({
    organizationId: reference.access.organizationId,
    destinationId,
    ...request,
  })
}

/**
 * Sends an event again, now, whatever became of it before. The webhook may have selected more agents at that time than
 * a limited token may use.
 * @throws WebhookNotFound, DeliveryNotFound, Forbidden
 */
export async function redeliverEvent(
  engine: DeliveryEngine & { webhooks: WebhookStore },
  { deliveryId, ...reference }: WebhookReference & { deliveryId: string },
): Promise<Delivery> {
  const { access } = reference
  const { organizationId } = access
  const destinationId = await resolveDestination(engine, reference)
  const event = parseEventId(deliveryId)
  const subject = event && (await readSubject(engine, { ...event, organizationId }))
  const delivery =
    subject && maySee(access, subject.addressed)
      ? await redeliver(engine, { organizationId, destinationId, eventId: deliveryId })
      : null
  if (!delivery) throw new DeliveryNotFound()
  return delivery
}

/** What has no agent belongs to all of them. */
const maySee = (access: Access, { agentId }: Addressed): boolean =>
  agentId === null ? access.agents === null : mayUseAgent(access, agentId)

/** Sends an example to a webhook, which is not stored. @throws WebhookNotFound */
export async function testWebhook(
  engine: Pick<DeliveryEngine, 'send' | 'system'> & { webhooks: WebhookStore },
  reference: WebhookReference,
): Promise<DeliveryResult> {
  const webhook = await getWebhook(engine, reference)
  const { id, organizationId, url } = webhook
  const { system } = engine
  const event = {
    subject: { kind: 'execution' as const, id: system.newId() },
    organizationId,
    revision: 1,
    type: 'webhook.test' as const,
    occurredAt: new Date(system.now()).toISOString(),
  }
  return engine.send({ id, webhook, url }, event, JSON.stringify({ webhookId: id }))
}
