import { describe, expect, it } from 'vitest'
import { MAX_WEBHOOKS } from '../../lib/core/limits.ts'
import { DEFAULT_WEBHOOK, type WebhookSecret } from '../../lib/core/notification.ts'
import { webhookKey } from '../../lib/dynamodb/table/keys.ts'
import { webhookStore } from '../../lib/dynamodb/webhook-store.ts'
import { system } from '../../lib/system.ts'
import { aWebhook } from '../support/notifications/a-webhook.ts'
import { EMULATORS, race, tableOn } from '../support/tables/emulators.ts'

const aSecret = (secret: string): WebhookSecret => ({ secret, createdAt: '', expiresAt: null })

describe.each(EMULATORS)('webhookStore on %s', (emulator) => {
  const table = tableOn(emulator)
  const store = webhookStore(table)

  it('returns what was created and changed', async () => {
    const webhook = aWebhook({ agentIds: [system.newId()], tenantIds: ['Müller\n'], sources: ['API'] })
    expect(await store.create({ webhook })).toBe(true)
    expect(await store.get(webhook)).toEqual(webhook)
    const changes = { agentIds: null, enabled: false, disabledReason: 'gone' as const }
    expect(await store.update({ ...webhook, changes })).toEqual({ ...webhook, ...changes })
    const second = aWebhook({ organizationId: webhook.organizationId })
    await store.create({ webhook: second })
    expect(await store.list(webhook)).toEqual([{ ...webhook, ...changes }, second])
  })

  it('deletes a webhook with its secrets, once', async () => {
    const webhook = aWebhook()
    await store.create({ webhook })
    await store.putSecrets({ ...webhook, secrets: [aSecret('a')], replaces: null })
    expect((await race(() => store.delete(webhook))).filter(Boolean)).toEqual([true])
    expect([await store.get(webhook), await store.list(webhook)]).toEqual([null, []])
    expect(await store.getSecrets(webhook)).toEqual([])
    expect(await store.update({ ...webhook, changes: { enabled: false } })).toBeNull()
  })

  it('holds the limit when many are created at the same time, and uses all of it', async () => {
    const { organizationId } = aWebhook()
    const created = async (count: number) => {
      const webhooks = Array.from({ length: count }, () => aWebhook({ organizationId }))
      const results = await Promise.all(webhooks.map((webhook) => store.create({ webhook })))
      return results.filter(Boolean).length
    }
    expect(await created(40)).toBe(MAX_WEBHOOKS)
    const all = await store.list({ organizationId })
    expect(all).toHaveLength(MAX_WEBHOOKS)
    await Promise.all(all.slice(0, 3).map((webhook) => store.delete(webhook)))
    expect(await created(5)).toBe(3)
  })

  it('shows no webhook whose creation or deletion was interrupted', async () => {
    const webhook = aWebhook()
    await table.put({ ...webhookKey(webhook.organizationId, webhook.id), ...webhook })
    expect([await store.get(webhook), await store.list(webhook)]).toEqual([null, []])
  })

  it('lets one of many replace the secrets', async () => {
    const webhook = aWebhook()
    const put = (secret: string, replaces: WebhookSecret | null) =>
      store.putSecrets({ ...webhook, secrets: [aSecret(secret)], replaces })
    expect((await race((racer) => put(String(racer), null))).filter(Boolean)).toHaveLength(1)
    const [first = null] = await store.getSecrets(webhook)
    expect((await race((racer) => put(`b${racer}`, first))).filter(Boolean)).toHaveLength(1)
    expect(await put('c', first)).toBe(false)
  })

  it('tells whether there is a default secret', async () => {
    const { organizationId } = aWebhook()
    const id = DEFAULT_WEBHOOK
    expect(await store.hasDefaultSecret({ organizationId })).toBe(false)
    await store.putSecrets({ organizationId, id, secrets: [aSecret('a')], replaces: null })
    expect(await store.hasDefaultSecret({ organizationId })).toBe(true)
    expect(await store.list({ organizationId })).toEqual([])
  })
})
