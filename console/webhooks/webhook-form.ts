import type { WebhookRecord } from '../../lib/contract/records/webhook.ts'
import type { WebhookEventType } from '../../lib/core/notification.ts'
import { EVENT_SOURCES, EVENT_TYPES, type EventSource } from './events.ts'

/** What the fields of the form are called, by the member of the request that they set. */
export const LABELS = {
  url: 'URL',
  types: 'Events',
  agents: 'Agents',
  tenants: 'Tenants',
  sources: 'Started by',
  allowedHosts: 'Allowed hosts',
} as const

/** The members of the request that the form sets. */
export type WebhookFields = {
  url: string
  types: WebhookEventType[]
  /** Slugs or IDs. */
  agents: string[] | null
  tenants: string[] | null
  sources: EventSource[] | null
  allowedHosts: string[]
}

/** The lines of a text that are not empty. */
export const toLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** An empty list selects everything. */
const orAll = <Item>(items: Item[]): Item[] | null => (items.length === 0 ? null : items)

export function toFields(form: FormData): WebhookFields {
  const text = (name: string) => String(form.get(name) ?? '')
  const chosen = form.getAll('sources')
  const sources = EVENT_SOURCES.filter((source) => chosen.includes(source))
  const types = form.getAll('types')
  return {
    url: text('url').trim(),
    types: EVENT_TYPES.filter((type) => types.includes(type)),
    agents: orAll(toLines(text('agents'))),
    tenants: orAll(toLines(text('tenants'))),
    sources: sources.length === EVENT_SOURCES.length ? null : orAll(sources),
    allowedHosts: toLines(text('allowedHosts')),
  }
}

/** Only what differs is sent: somebody else may have changed the rest. */
export function findChanges(webhook: WebhookRecord, fields: WebhookFields): Partial<WebhookFields> {
  const names = Object.keys(fields) as (keyof WebhookFields)[]
  const changed = names.filter((name) => toKey(webhook[name]) !== toKey(fields[name]))
  return Object.fromEntries(changed.map((name) => [name, fields[name]]))
}

/** The order of a list does not matter. */
const toKey = (value: string | string[] | null): string =>
  JSON.stringify(Array.isArray(value) ? value.toSorted() : value)
