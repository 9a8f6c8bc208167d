import type { DeliveryRecord, WebhookRecord } from '../../lib/contract/records/webhook.ts'
import type { WebhookEventType } from '../../lib/core/notification.ts'

export const EVENT_LABELS: Record<WebhookEventType, string> = {
  'execution.succeeded': 'Run succeeded',
  'execution.failed': 'Run failed',
  'execution.cancelled': 'Run cancelled',
  'execution.waiting': 'Run waits',
  'batch.ended': 'Batch ended',
  'limit.warning': 'Cost limit almost used up',
  'rollout.aborted': 'Rollout aborted',
  'score.low': 'Score below the minimum',
}

export const EVENT_TYPES = Object.keys(EVENT_LABELS) as WebhookEventType[]

/** What a webhook gets that was created without a choice. */
export const isRunEvent = (type: WebhookEventType): boolean => type.startsWith('execution.')

export const SOURCE_LABELS = { API: 'Requests', BATCH: 'Batches', SCHEDULE: 'Schedules' } as const
export type EventSource = keyof typeof SOURCE_LABELS
export const EVENT_SOURCES = Object.keys(SOURCE_LABELS) as EventSource[]

/** The type of an event for people; that of a newer service as it is. */
export const labelOfEvent = (type: string): string =>
  type === 'webhook.test'
    ? 'Test'
    : Object.hasOwn(EVENT_LABELS, type)
      ? EVENT_LABELS[type as WebhookEventType]
      : type

/** What a webhook is called: its host. The rest of a URL can be secret, and titles are kept by browsers. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'Webhook')

export type WebhookState = {
  kind: 'enabled' | 'failing' | 'disabled'
  label: string
  /** What it means, and what to do. */
  text: string
}

export function stateOf({ enabled, disabledReason, failingSince }: WebhookRecord): WebhookState {
  if (enabled && failingSince !== null)
    return {
      kind: 'failing',
      label: 'Failing',
      text: 'All deliveries have failed since then. After three days without a success, the service disables it.',
    }
  if (enabled) return { kind: 'enabled', label: 'Enabled', text: 'It receives events.' }
  const reasons = {
    gone: 'The service has disabled it: the receiver answered 410 (Gone), which means: stop sending.',
    failing: 'The service has disabled it: all deliveries have failed for three days.',
  }
  return {
    kind: 'disabled',
    label: 'Disabled',
    text: disabledReason
      ? `${reasons[disabledReason]} Enable it when the receiver works again.`
      : 'It was disabled by a user. It receives nothing until it is enabled.',
  }
}

/** The times of the latest success and of the latest failure among deliveries; null if there is none among them. */
export function lastOutcomes(deliveries: DeliveryRecord[]): {
  success: string | null
  failure: string | null
} {
  const latest = (isSuccess: boolean) =>
    deliveries
      .filter(({ status }) => (status === 'DELIVERED') === isSuccess)
      .map(({ attemptedAt }) => attemptedAt)
      .reduce<string | null>((last, each) => (last === null || each > last ? each : last), null)
  return { success: latest(true), failure: latest(false) }
}

export const webhookPath = (id: string, rest = ''): string => `/v1/webhooks/${encodeURIComponent(id)}${rest}`

/** The ID in the place of that of a webhook, for the URLs that are given with runs. */
export const DEFAULT_WEBHOOK = 'default'
