import { MAX_WEBHOOKS } from '../core/limits.ts'
import { DEFAULT_WEBHOOK, type Webhook, type WebhookSecret } from '../core/notification.ts'
import type { WebhookStore } from '../core/ports/notifications.ts'
import { withoutNulls } from './executions/execution-item.ts'
import {
  destinationsKey,
  signingSecretKey,
  WEBHOOK_PREFIX,
  webhookKey,
  webhookSecretKey,
} from './table/keys.ts'
import { type Condition, type Item, NOT_EXISTS, queryPages, type Table } from './table/table.ts'

/**
 * The webhooks of an organization, in one partition. The item with all ids says which of them exist: it is written
 * after a new webhook and before a deletion, and its condition limits their number. A process that dies in between
 * leaves an item that nobody sees.
 */
export function webhookStore(table: Table): WebhookStore {
  return {
    async list({ organizationId }) {
      const { pk } = destinationsKey(organizationId)
      const pages = queryPages(table, {
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ConsistentRead: true,
      })
      const items: Item[] = []
      for await (const page of pages) items.push(...page)
      return visible(items)
    },

    async get({ organizationId, id }) {
      const keys = [webhookKey(organizationId, id), destinationsKey(organizationId)]
      const [webhook = null] = visible(await table.getMany(keys, { consistent: true }))
      return webhook
    },

    async create({ webhook }) {
      const { organizationId, id } = webhook
      await table.put({ ...webhookKey(organizationId, id), ...withoutNulls(webhook) })
      const isCreated = await table.update(destinationsKey(organizationId), {
        include: { ids: new Set([id]) },
        condition: mayAdd(id),
      })
      if (!isCreated) await table.delete(webhookKey(organizationId, id))
      return isCreated !== null
    },

    async update({ organizationId, id, changes }) {
      const names = Object.keys(changes) as (keyof typeof changes)[]
      const item = await table.update(webhookKey(organizationId, id), {
        set: withoutNulls(changes),
        remove: names.filter((name) => changes[name] === null),
        condition: { expression: 'attribute_exists(pk)' },
      })
      return item && fromItem(item)
    },

    async delete({ organizationId, id }) {
      await table.delete(webhookSecretKey(organizationId, id))
      const isDeleted = await table.update(destinationsKey(organizationId), {
        exclude: { ids: new Set([id]) },
        condition: { expression: 'contains(#ids, :id)', names: ['ids'], values: { id } },
      })
      await table.delete(webhookKey(organizationId, id))
      return isDeleted !== null
    },

    async getSecrets({ organizationId, id }) {
      const item = await table.get(webhookSecretKey(organizationId, id), { consistent: true })
      return (item?.secrets ?? []) as WebhookSecret[]
    },

    async putSecrets({ organizationId, id, secrets, replaces }) {
      const item = { ...webhookSecretKey(organizationId, id), current: secrets[0]?.secret, secrets }
      const isStored = await table.put(item, replaces ? isCurrent(replaces) : NOT_EXISTS)
      if (isStored && id === DEFAULT_WEBHOOK) {
        const createdAt = secrets[0]?.createdAt
        const isNewer = {
          expression: 'attribute_not_exists(pk) OR #createdAt <= :createdAt',
          ...{ names: ['createdAt'], values: { createdAt } },
        }
        await table.put({ ...signingSecretKey(organizationId), createdAt, secrets }, isNewer)
        const set = { hasDefaultSecret: true, hasSigningSecret: true }
        await table.update(destinationsKey(organizationId), { set })
      }
      return isStored
    },

    async getSigningSecrets({ organizationId }) {
      const item = await table.get(signingSecretKey(organizationId), { consistent: true })
      return (item?.secrets ?? []) as WebhookSecret[]
    },

    async hasSigningSecret({ organizationId }) {
      const item = await table.get(destinationsKey(organizationId), { consistent: true })
      return item?.hasSigningSecret === true
    },

    async hasDefaultSecret({ organizationId }) {
      const item = await table.get(destinationsKey(organizationId), { consistent: true })
      return item?.hasDefaultSecret === true
    },
  }
}

/** Also if it was added by a request whose response was lost. */
const mayAdd = (id: string): Condition => ({
  expression: 'attribute_not_exists(#ids) OR size(#ids) < :max OR contains(#ids, :id)',
  names: ['ids'],
  values: { max: MAX_WEBHOOKS, id },
})

const isCurrent = ({ secret: current }: WebhookSecret): Condition => ({
  expression: '#current = :current',
  names: ['current'],
  values: { current },
})

function visible(items: Item[]): Webhook[] {
  const all = items.find(({ sk }) => !String(sk).startsWith(WEBHOOK_PREFIX))
  const ids = (all?.ids ?? new Set()) as Set<unknown>
  return items.filter(({ id }) => ids.has(id)).map(fromItem)
}

/** Null is stored as an absent attribute. */
const NO_VALUES = { agentIds: null, tenantIds: null, sources: null, disabledReason: null, failingSince: null }

const fromItem = ({ pk, sk, ...webhook }: Item): Webhook => ({ ...NO_VALUES, ...(webhook as Webhook) })
