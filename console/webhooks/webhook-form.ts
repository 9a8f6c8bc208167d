import type { WebhookRecord } from '../../lib/contract/records/webhook.ts'
import type { WebhookEventType } from '../../lib/core/notification.ts'
import { toLines } from '../components/format.ts'
import { EVENT_SOURCES, EVENT_TYPES, type EventSource, isRunEvent } from './events.ts'

export type WebhookFields = {
  url: string
  types: WebhookEventType[]
  /** Slugs or IDs. */
  agents: string[] | null
  tenants: string[] | null
  sources: EventSource[] | null
  allowedHosts: string[]
}

/**
 * The form as it is typed. Lists have one item per line. `agents`: null as long as nobody has changed them.
 * @param webhook null: a new one, which gets all runs
 */
export const toForm = (webhook: WebhookRecord | null) => ({
  url: webhook?.url ?? '',
  types: webhook?.types ?? EVENT_TYPES.filter(isRunEvent),
  agents: null as string | null,
  tenants: webhook?.tenants?.join('\n') ?? '',
  sources: webhook?.sources ?? EVENT_SOURCES,
  allowedHosts: webhook?.allowedHosts.join('\n') ?? '',
})

/** An empty list selects everything. */
const orAll = <Item>(items: Item[]): Item[] | null => (items.length === 0 ? null : items)

export const toFields = (form: ReturnType<typeof toForm> & { agents: string }): WebhookFields => ({
  url: form.url.trim(),
  types: EVENT_TYPES.filter((type) => form.types.includes(type)),
  agents: orAll(toLines(form.agents)),
  tenants: orAll(toLines(form.tenants)),
  sources: form.sources.length === EVENT_SOURCES.length ? null : orAll(form.sources),
  allowedHosts: toLines(form.allowedHosts),
})

/** Only what differs is sent: somebody else may have changed the rest. */
export function findChanges(webhook: WebhookRecord, fields: WebhookFields): Partial<WebhookFields> {
  const names = Object.keys(fields) as (keyof WebhookFields)[]
  const changed = names.filter((name) => toKey(webhook[name]) !== toKey(fields[name]))
  return Object.fromEntries(changed.map((name) => [name, fields[name]]))
}

/** The order of a list does not matter. */
const toKey = (value: string | string[] | null): string =>
  JSON.stringify(Array.isArray(value) ? value.toSorted() : value)
