import { DEFAULT_WEBHOOK, type DeliveryResult, eventIdOf, type SentEvent } from '../../core/notification.ts'
import type { WebhookStore } from '../../core/ports/notifications.ts'
import type { System } from '../../core/ports/system.ts'
import type { Environment } from '../../environment.ts'
import { privateHosts } from '../../tools/egress/private-hosts.ts'
import type { Destination } from './destinations.ts'
import { sendToEventBus } from './event-bus.ts'
import { sendWebhook } from './send-webhook.ts'
import { cacheSecrets } from './sign-webhook.ts'

/** For one attempt. A receiver is not faster because retries are. */
const TIMEOUT_MS = 20_000

/** Sends events to webhooks and to the event bus. */
export function eventSender(
  webhooks: Pick<WebhookStore, 'getSecrets'>,
  { system }: { system: Pick<System, 'now'> },
  environment: Environment = process.env,
) {
  const secretsOf = cacheSecrets(webhooks.getSecrets)
  return async ({ webhook, url }: Destination, event: SentEvent, data: string): Promise<DeliveryResult> => {
    const { organizationId, type, occurredAt } = event
    if (url === null) return sendToEventBus({ type, occurredAt, detail: data }, environment)
    const secrets = await secretsOf({ organizationId, id: webhook?.id ?? DEFAULT_WEBHOOK })
    const body = `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(occurredAt)},"data":${data}}`
    const { allowedHosts = [] } = webhook ?? {}
    const mayBePrivate = privateHosts(organizationId, environment)
    const hosts = { allowedHosts, mayBePrivate }
    const request = { url, ...hosts, secrets, eventId: eventIdOf(event), body, now: system.now() }
    return sendWebhook(request, { timeoutMs: TIMEOUT_MS })
  }
}
