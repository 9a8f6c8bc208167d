import * as z from 'zod/mini'
import { MAX_WEBHOOK_SELECTED, MAX_WEBHOOK_URL } from '../../core/limits.ts'
import { EVENT_SOURCES, EVENT_TYPES } from '../../core/notification.ts'
import { tenant } from '../parameters/parameter-types.ts'
import { schema } from '../records/fields.ts'
import { oneToMany } from './fields.ts'

const HOST = /^(\[[0-9a-fA-F:.]+\]|[a-zA-Z0-9._-]+)(:\d{1,5})?$/
const MAX_ALLOWED_HOSTS = 16

/** What selects events: null for all of them. */
function selection<Item extends z.ZodMiniType>(item: Item, items: string, description: string) {
  const error = `must be a list of 1 to ${MAX_WEBHOOK_SELECTED} ${items}, or null for all`
  return z.nullable(oneToMany(item, MAX_WEBHOOK_SELECTED, error)).check(z.describe(description))
}

const webhookFields = () => {
  const urlError = `must be a URL of at most ${MAX_WEBHOOK_URL} characters`
  const sourcesError = `must be ${EVENT_SOURCES.map((source) => `"${source}"`).join(' or ')}`
  const hostError = 'must be a host such as "localhost:8080"'
  const hostsError = `must be a list of at most ${MAX_ALLOWED_HOSTS} hosts`
  return {
    url: z
      .string({ error: urlError })
      .check(
        z.minLength(1, { error: urlError }),
        z.maxLength(MAX_WEBHOOK_URL, { error: urlError }),
        z.describe(
          'Where events are sent. It must begin with `https://` and must not have a private address.',
        ),
      ),
    types: oneToMany(
      z.enum(EVENT_TYPES, { error: `must be one of ${EVENT_TYPES.join(', ')}` }),
      EVENT_TYPES.length,
      `must be a list of ${EVENT_TYPES.join(', ')}`,
    ).check(z.describe('The types of the events. By default those of executions.')),
    agents: selection(
      z.string({ error: 'must be the slug or ID of an agent' }),
      'slugs or IDs of agents',
      'Only events of these agents (slugs or IDs). Null: of all agents.',
    ),
    tenants: selection(
      tenant(),
      'tenants',
      'Only events of these tenants. Null: of all, with or without a tenant.',
    ),
    sources: selection(
      z.enum(EVENT_SOURCES, { error: sourcesError }),
      'sources',
      'Only events of executions from these sources, and of batches with `BATCH`. Null: from all.',
    ),
    allowedHosts: z
      .array(z.string({ error: hostError }).check(z.regex(HOST, { error: hostError })), { error: hostsError })
      .check(
        z.maxLength(MAX_ALLOWED_HOSTS, { error: hostsError }),
        z.describe(
          'Hosts that may have a private address or use plain HTTP, with the port unless it is the default.',
        ),
      ),
    enabled: z
      .boolean({ error: 'must be true or false' })
      .check(z.describe('Whether it receives events. Enabling one that the service has disabled resets it.')),
  }
}

export const webhookChanges = /* @__PURE__ */ schema(() =>
  z.partial(z.strictObject(webhookFields())).check(z.meta({ id: 'WebhookChanges' })),
)

export const webhookBody = /* @__PURE__ */ schema(() => {
  const { url, ...others } = webhookFields()
  return z.strictObject({ url, ...z.partial(z.object(others)).shape }).check(z.meta({ id: 'WebhookBody' }))
})
