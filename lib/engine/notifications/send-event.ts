import { LRUCache } from 'lru-cache'
import type { LeaseTimes } from '../../core/lease-times.ts'
import {
  DEFAULT_WEBHOOK,
  type DeliveryResult,
  type ExecutionEvent,
  eventIdOf,
  type WebhookSecret,
} from '../../core/notification.ts'
import type { System, WebhookStore } from '../../core/ports.ts'
import type { Destination } from './destinations.ts'
import { sendWebhook } from './send-webhook.ts'

/** A rotated secret is used within this time: the previous one stays valid for longer. */
const CACHED_MS = 30_000
const MAX_SECRETS = 1_000

/** Sends events to webhooks and to the event bus. */
export function eventSender(
  webhooks: Pick<WebhookStore, 'getSecrets'>,
  { system, times }: { system: Pick<System, 'now'>; times: LeaseTimes },
) {
  const known = new LRUCache<string, WebhookSecret[], { organizationId: string; id: string }>({
    max: MAX_SECRETS,
    ttl: CACHED_MS,
    fetchMethod: (_key, _stale, { context }) => webhooks.getSecrets(context),
  })
  return async (
    { id, webhook, url }: Destination,
    event: ExecutionEvent,
    data: string,
  ): Promise<DeliveryResult> => {
    const { organizationId, type, occurredAt } = event
    if (url === null)
      return { ok: false, responseStatus: null, error: 'There is no event bus.', isGone: false }
    const context = { organizationId, id: webhook?.id ?? DEFAULT_WEBHOOK }
    const secrets = (await known.fetch(`${organizationId}/${id}`, { context })) ?? []
    const body = `{"type":${JSON.stringify(type)},"timestamp":${JSON.stringify(occurredAt)},"data":${data}}`
    const { allowedHosts = [] } = webhook ?? {}
    const request = { url, allowedHosts, secrets, eventId: eventIdOf(event), body, now: system.now() }
    // 20 s.
    return sendWebhook(request, { timeoutMs: Math.round(times.leaseMs / 3) })
  }
}
