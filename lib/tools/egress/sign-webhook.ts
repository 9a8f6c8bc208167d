import { createHmac, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { DEFAULT_WEBHOOK, type WebhookSecret } from '../../core/notification.ts'
import type { WebhookStore } from '../../core/ports/notifications.ts'
import type { OwnedId } from '../../core/ports/system.ts'

const PREFIX = 'whsec_'

/** The specification allows 24 to 64 bytes. */
const SECRET_BYTES = 32

/** A new secret that signs deliveries. */
export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

/** A rotated secret is used within this time: the previous one stays valid for longer. */
const CACHED_MS = 30_000
const MAX_SECRETS = 1_000

/** A reader that keeps secrets that exist for 30 s. */
export function cacheSecrets(read: (key: OwnedId) => Promise<WebhookSecret[]>): typeof read {
  const known = new LRUCache<string, WebhookSecret[], OwnedId>({
    max: MAX_SECRETS,
    ttl: CACHED_MS,
    ignoreFetchAbort: true,
    async fetchMethod(_key, _stale, { context }) {
      const secrets = await read(context)
      return secrets.length > 0 ? secrets : undefined
    },
  })
  return async (context) => (await known.fetch(`${context.organizationId}/${context.id}`, { context })) ?? []
}

/** Gives an organization the secret that signs requests to its remote agents, unless it has one. */
export async function ensureSigningSecret(
  webhooks: Pick<WebhookStore, 'getSecrets' | 'hasSigningSecret' | 'putSecrets'>,
  { organizationId, now, secret = newSecret() }: { organizationId: string; now: number; secret?: string },
): Promise<void> {
  if (await webhooks.hasSigningSecret({ organizationId })) return
  const key = { organizationId, id: DEFAULT_WEBHOOK }
  const kept = await webhooks.getSecrets(key)
  const created = { secret, createdAt: new Date(now).toISOString(), expiresAt: null }
  await webhooks.putSecrets({
    ...key,
    secrets: kept.length > 0 ? kept : [created],
    replaces: kept[0] ?? null,
  })
}

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
