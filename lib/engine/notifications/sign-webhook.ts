import { createHmac, randomBytes } from 'node:crypto'
import type { WebhookSecret } from '../../core/notification.ts'

const PREFIX = 'whsec_'

/** The specification allows 24 to 64 bytes. */
const SECRET_BYTES = 32

/** A new secret that signs deliveries. */
export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

type Message = {
  eventId: string
  body: string
  /** All secrets of the destination. Those that have expired do not sign. */
  secrets: WebhookSecret[]
  /** Milliseconds since the epoch. */
  now: number
}

/**
 * The headers of a delivery by Standard Webhooks 1.0.0, with a signature of each secret; null if all have expired.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signWebhook({ eventId, body, secrets, now }: Message): Record<string, string> | null {
  const timestamp = String(Math.floor(now / 1000))
  const valid = secrets.filter(({ expiresAt }) => expiresAt === null || Date.parse(expiresAt) > now)
  if (valid.length === 0) return null
  const signatures = valid.map(({ secret }) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${eventId}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
