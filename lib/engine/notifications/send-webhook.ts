import type { DeliveryResult, WebhookSecret } from '../../core/notification.ts'
import type { EgressPolicy, MayBePrivate } from '../../tools/egress/egress-policy.ts'
import { failed, post } from '../../tools/egress/post.ts'
import { signWebhook } from '../../tools/egress/sign-webhook.ts'

/** For everything, from the lookup of the host to the end of the answer. */
const TIMEOUT_MS = 20_000

type WebhookRequest = {
  url: string
  /** Hosts that may have addresses that are not public, and use plain HTTP. */
  allowedHosts: string[]
  /** Which of them operators let have such addresses. */
  mayBePrivate: MayBePrivate
  /** All secrets of the destination. Those that have expired do not sign. */
  secrets: WebhookSecret[]
  eventId: string
  body: string
  /** Milliseconds since the epoch. */
  now: number
}

type Options = { timeoutMs?: number; lookup?: EgressPolicy['lookup'] }

/**
 * Sends an event to a receiver, signed, under the egress policy of HTTP tools. Never throws. Errors contain no secret
 * and nothing of the event or of the answer's body.
 */
export async function sendWebhook(
  { url, allowedHosts, mayBePrivate, secrets, eventId, body, now }: WebhookRequest,
  { timeoutMs = TIMEOUT_MS, lookup }: Options = {},
): Promise<DeliveryResult> {
  const signature = signWebhook({ eventId, body, secrets, now })
  if (!signature) return failed(null, 'The webhook has no valid secret. Rotate it to get a new one.')
  const headers = { 'content-type': 'application/json', ...signature }
  const { answer: _, ...result } = await post(
    { url, headers, body },
    { allowedHosts, mayBePrivate, lookup, timeoutMs },
  )
  return result
}
