import { DEFAULT_WEBHOOK, type DeliveryResult, eventIdOf, type SentEvent, REMOTE_AGENT } from '../../core/notification.ts'
import type { WebhookStore } from '../../core/ports/notifications.ts'
import type { System } from '../../core/ports/system.ts'
import type { Environment } from '../../environment.ts'
import { privateHosts } from '../../tools/egress/private-hosts.ts'
import type { Destination } from './destinations.ts'
import { sendToEventBus } from './event-bus.ts'
import { sendWebhook } from './send-webhook.ts'
import { cacheSecrets } from '../../tools/egress/sign-webhook.ts'

/** For one attempt. A receiver is not faster because retries are. */
const TIMEOUT_MS = 20_000

/** Sends events to webhooks and to the event bus. */
export function eventSender(
  webhooks: Pick<WebhookStore, 'getSecrets'>,
  { system }: { system: Pick<System, 'newId' | 'now'> },
  environment: Environment = process.env,
) {
  const secretsOf = cacheSecrets(webhooks.getSecrets)
  return async (
    { id, webhook, url, allowedHosts = webhook?.allowedHosts ?? [] }: Destination,
    event: SentEvent,
    data: string,
  ): Promise<DeliveryResult> => {
    const { organizationId, type, occurredAt, subject } = event
    if (url === null) return sendToEventBus({ type, occurredAt, detail: data }, environment)
    const isCancel = id === REMOTE_AGENT
    const secrets = await secretsOf({ organizationId, id: webhook?.id ?? DEFAULT_WEBHOOK })
    const body = isCancel
      ? JSON.stringify({ executionId: subject.id, type: 'cancel' })
      : `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(occurredAt)},"data":${data}}`
    // A remote agent was published with its hosts, and refuses an ID that it knows.
    const mayBePrivate = isCancel ? () => true : privateHosts(organizationId, environment)
    const eventId = isCancel ? system.newId() : eventIdOf(event)
    const request = { url, allowedHosts, mayBePrivate, secrets, eventId, body, now: system.now() }
    return sendWebhook(request, { timeoutMs: TIMEOUT_MS })
  }
}
