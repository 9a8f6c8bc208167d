import { randomBytes } from 'node:crypto'
import pLimit from 'p-limit'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { parseJson } from '../../lib/core/json/parse-json.ts'
import { MAX_WEBHOOKS } from '../../lib/core/limits.ts'
import { DEFAULT_WEBHOOK, type WebhookSecret } from '../../lib/core/notification.ts'
import type { Schedule } from '../../lib/core/schedule.ts'
import { MAX_FIRINGS, MAX_SCHEDULE_INPUT_BYTES, MAX_SCHEDULES } from '../../lib/core/schedule.ts'
import { declarationStore } from '../../lib/dynamodb/cache-stores.ts'
import { scheduleStore } from '../../lib/dynamodb/schedule-store.ts'
import { webhookKey } from '../../lib/dynamodb/table/keys.ts'
import { webhookStore } from '../../lib/dynamodb/webhook-store.ts'
import { system } from '../../lib/system.ts'
import { aWebhook } from '../support/notifications/a-webhook.ts'
import { aSchedule } from '../support/schedules/a-schedule.ts'
import { EMULATORS, RACERS, race, readPages, tableOn } from '../support/tables/emulators.ts'

const scheduledFor = '2026-11-24T12:00:00.000Z'

describe.each(EMULATORS)('scheduleStore on %s', (emulator) => {
  const store = scheduleStore(tableOn(emulator))

  const put = (schedule: Schedule, replaces: Schedule | null = null) => store.put({ schedule, replaces })
  async function create(schedule = aSchedule()): Promise<Schedule> {
    const stored = await put(schedule)
    if (typeof stored === 'string') throw new Error(stored)
    return stored
  }

  it('returns what was stored, with all digits of its input, and null for another organization', async () => {
    const input = parseJson('{"id":12345678901234567890,"text":"Müller\\n"}') as JsonObject
    const [options, tokenId] = [{ useCache: false, model: undefined }, system.newId()]
    const firings = [{ scheduledFor, status: 'FAILED' as const, executionId: null, code: 'X' }]
    const given = { name: 'Nightly.report_1', input, options, tenantId: 'acme', tokenId, firings }
    const schedule = await create(aSchedule(given))
    expect(await store.get(schedule)).toEqual(schedule)
    expect(await store.get({ ...schedule, organizationId: system.newId() })).toBeNull()
    expect(await store.get({ ...schedule, name: 'Nightly' })).toBeNull()
  })

  it('lets one of many write the next revision, and one create it', async () => {
    const schedule = aSchedule()
    const created = await race((n) => put({ ...schedule, cron: `${n} * * * *` }))
    const [first, ...others] = created.filter((each) => typeof each !== 'string')
    expect([others.length, await store.get(schedule)]).toEqual([0, first])
    const changed = await race((n) => put({ ...schedule, cron: `* ${n} * * *` }, first))
    expect(changed.filter((each) => each !== 'changed')).toEqual([await store.get(schedule)])
  })

  it('does not write a revision of a schedule that was deleted, or deleted and created again', async () => {
    const first = await create()
    expect(await store.delete({ ...first, organizationId: system.newId() })).toBe(false)
    expect([await store.delete(first), await store.delete(first)]).toEqual([true, false])
    expect(await put(first, first)).toBe('changed')
    const second = await create(first)
    expect(await put({ ...first, enabled: false }, first)).toBe('changed')
    expect(await store.get(first)).toEqual(second)
  })

  it('stores the largest input with the most firings that can be', async () => {
    const firing = { scheduledFor, status: 'STARTED' as const, executionId: system.newId(), code: null }
    const text = randomBytes(MAX_SCHEDULE_INPUT_BYTES).toString('base64')
    const input = { text: text.slice(0, MAX_SCHEDULE_INPUT_BYTES - 11) }
    const schedule = await create(aSchedule({ input, firings: Array(MAX_FIRINGS).fill(firing) }))
    expect(await store.get(schedule)).toEqual(schedule)
  })

  it('holds the limit of an agent when many are created at the same time, and uses all of it', async () => {
    const { organizationId, agentId } = aSchedule()
    const putNamed = (name: string) => put(aSchedule({ organizationId, agentId, name }))
    const names = Array.from({ length: MAX_SCHEDULES + 20 }, (_, n) => `s${n}`)
    const limit = pLimit(RACERS)
    const results = await Promise.all(names.map((name) => limit(() => putNamed(name))))
    expect(results.filter((each) => each === 'full')).toHaveLength(20)
    const { items } = await readPages((page) => store.list({ organizationId, agentId, ...page }), 7)
    expect(items.map(({ name }) => name)).toEqual(
      results.flatMap((each) => (typeof each === 'string' ? [] : [each.name])).sort(),
    )
    await store.delete(items[0] as Schedule)
    expect([typeof (await putNamed('new')), await putNamed('newer')]).toEqual(['object', 'full'])
    expect(await putNamed('new')).toBe('changed')
  })

  it('ends a page of large inputs early', async () => {
    const { organizationId, agentId } = aSchedule()
    const input = { text: 'x'.repeat(MAX_SCHEDULE_INPUT_BYTES - 11) }
    for (let n = 10; n < 35; n++) await create(aSchedule({ organizationId, agentId, name: `s${n}`, input }))
    const { items, pages } = await readPages((page) => store.list({ organizationId, agentId, ...page }), 50)
    expect([items.length, pages]).toEqual([25, 2])
  })
})

const NOW = 1_800_000_000_000

const inputSchema = { type: 'object', properties: { id: { type: 'string' } } }

const declarations = { crm: [{ name: 'crm_find', description: 'Finds.', inputSchema }] }

describe.each(EMULATORS)('declarationStore on %s', (emulator) => {
  const store = declarationStore(tableOn(emulator))
  const newKey = () => ({ organizationId: system.newId(), hash: 'a1', now: NOW })

  it('returns what was stored for a hash, and only in its organization', async () => {
    const key = newKey()
    for (let times = 0; times < 2; times++) await store.put({ ...key, declarations })
    expect(await store.get(key)).toEqual(declarations)
    expect(await store.get({ ...key, hash: 'a2' })).toBeNull()
    expect(await store.get({ ...key, organizationId: system.newId() })).toBeNull()
  })

  it('stores large declarations, and none that fit no item', async () => {
    const of = (description: string) => ({ name: 'crm_find', description, inputSchema })
    const large = { crm: Array(400).fill(of('Finds a customer. '.repeat(100))) }
    const random = { crm: [of(randomBytes(600_000).toString('base64'))] }
    for (const [declarations, stored] of [
      [large, large],
      [random, null],
    ] as const) {
      const key = newKey()
      await store.put({ ...key, declarations })
      expect(await store.get(key)).toEqual(stored)
    }
  })
})

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
