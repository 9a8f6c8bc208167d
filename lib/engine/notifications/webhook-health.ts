import type { DeliveryResult, Webhook } from '../../core/notification.ts'
import type { DeliveryStore, WebhookStore } from '../../core/ports/notifications.ts'
import type { System } from '../../core/ports/system.ts'
import { forgetWebhooks } from './destinations.ts'

type Engine = {
  webhooks: Pick<WebhookStore, 'get' | 'update'>
  deliveries: Pick<DeliveryStore, 'list'>
  system: Pick<System, 'now'>
}

/** After so long without a success, a webhook is disabled. */
const FAILING_MS = 72 * 3_600_000
/** Deliveries among which one that succeeded is looked for. */
const MAX_CHECKED = 100

/**
 * Since when a webhook fails, and whether it has to be disabled: when its receiver answers 410, or when nothing has
 * been delivered for three days. Best effort: the next result is noted, too.
 */
export async function noteResult(
  engine: Engine,
  webhook: Webhook,
  { ok, isGone }: DeliveryResult,
): Promise<void> {
  const { webhooks, system } = engine
  const { organizationId, id, failingSince } = webhook
  const now = system.now()
  const update = async (changes: Parameters<WebhookStore['update']>[0]['changes']) => {
    await webhooks.update({ organizationId, id, changes })
    forgetWebhooks(organizationId)
  }
  try {
    if (ok) return failingSince === null ? undefined : await update({ failingSince: null })
    const failsFrom = new Date(now).toISOString()
    if (!isGone && failingSince === null) return await update({ failingSince: failsFrom })
    const isLong = (since: string | null) => since !== null && now - Date.parse(since) >= FAILING_MS
    if (!isGone && !isLong(failingSince)) return
    // It may have another URL since this process has read it, or another process has delivered something.
    const current = await webhooks.get({ organizationId, id })
    if (current?.url !== webhook.url) return
    if (isGone) return await update({ enabled: false, disabledReason: 'gone' })
    if (!isLong(current.failingSince)) return
    const isDelivered = await hasDelivered(engine, webhook, current.failingSince ?? '')
    await update(isDelivered ? { failingSince: failsFrom } : { enabled: false, disabledReason: 'failing' })
  } catch {
    // The delivery itself is stored.
  }
}

/** A process that does not know yet that a webhook fails does not note that it has delivered something. */
async function hasDelivered({ deliveries }: Engine, { organizationId, id }: Webhook, since: string) {
  const page = { limit: MAX_CHECKED, after: null }
  const { items } = await deliveries.list({ organizationId, destinationId: id, ...page })
  return items.some(({ status, attemptedAt }) => status === 'DELIVERED' && attemptedAt >= since)
}
