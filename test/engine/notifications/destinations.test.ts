import { describe, expect, it } from 'vitest'
import { UNLIMITED } from '../../../lib/core/access.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { Webhook } from '../../../lib/core/notification.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { circuitBreaker } from '../../../lib/engine/notifications/circuit-breaker.ts'
import { forgetWebhooks, openDestinations } from '../../../lib/engine/notifications/destinations.ts'
import { createWebhook, deleteWebhook, updateWebhook } from '../../../lib/engine/notifications/webhooks.ts'
import { system } from '../../../lib/system.ts'
import { anExecution } from '../../support/engine/executions.ts'
import { BROKEN, OK, SILENT } from '../../support/notifications/an-outbox.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

describe('destinations', () => {
  it('sees at once what this process changes', async () => {
    const stores = { ...openStores(memoryTable()), system }
    const destinations = openDestinations(stores.webhooks, { environment: {} })
    const organizationId = system.newId()
    const access = { ...UNLIMITED, organizationId, tokenId: '' }
    const execution = { ...anExecution(), organizationId }
    const read = async () => (await destinations.of(execution, 'execution.succeeded')).map(({ id }) => id)
    expect(await read()).toEqual([])
    const body = { url: 'https://receiver.example/' }
    const { webhook } = await createWebhook(stores, { access, body, retentionDays: null })
    expect(await read()).toEqual([webhook.id])
    const reference = { access, webhookId: webhook.id }
    for (const enabled of [false, true]) {
      await updateWebhook(stores, { ...reference, body: { enabled } })
      expect(await read()).toEqual(enabled ? [webhook.id] : [])
    }
    await deleteWebhook(stores, reference)
    expect(await read()).toEqual([])
  })

  it('waits for the webhooks of an organization that are forgotten while they are read', async () => {
    const execution = anExecution()
    const types = ['execution.succeeded']
    const webhook = { id: 'w', types, agentIds: null, tenantIds: null, sources: null, enabled: true }
    const reads: (() => void)[] = []
    const list = async () => {
      await new Promise<void>((resolve) => reads.push(resolve))
      return [webhook as unknown as Webhook]
    }
    const destinations = openDestinations({ list }, { environment: {} })
    const reading = destinations.of(execution, 'execution.succeeded')
    forgetWebhooks(execution.organizationId)
    reads[0]?.()
    // None would lose the event: the execution would not be marked, or its events would count as handled.
    expect(await reading).toMatchObject([{ id: 'w' }])
  })
})

describe('circuitBreaker', () => {
  const times = leaseTimes()

  function aBreaker() {
    let now = 0
    let sent = 0
    const breaker = circuitBreaker(() => now, times)
    return {
      pass: (ms: number) => {
        now += ms
      },
      async run(result: () => Promise<typeof OK> | typeof OK, isForced = false) {
        const before = sent
        const ran = await breaker.run('receiver', { isForced }, async () => {
          sent++
          return result()
        })
        return { isSent: sent > before, ran }
      },
    }
  }

  it('sends nothing for 30 s after three attempts without an answer, then one at a time', async () => {
    const breaker = aBreaker()
    for (let i = 0; i < 3; i++) expect((await breaker.run(() => SILENT)).isSent).toBe(true)
    breaker.pass(29_000)
    expect(await breaker.run(() => OK)).toMatchObject({ isSent: false, ran: { ok: false } })
    breaker.pass(1_001)
    const answer = Promise.withResolvers<typeof OK>()
    const trying = breaker.run(() => answer.promise)
    expect((await breaker.run(() => OK)).isSent).toBe(false)
    answer.resolve(OK)
    expect((await trying).ran.ok).toBe(true)
    expect((await breaker.run(() => OK)).isSent).toBe(true)
  })

  it('tries again after an attempt that could not be made', async () => {
    const breaker = aBreaker()
    for (let i = 0; i < 3; i++) await breaker.run(() => SILENT)
    breaker.pass(30_001)
    await expect(breaker.run(() => Promise.reject(new Error('No secret.')))).rejects.toThrow('No secret.')
    expect((await breaker.run(() => OK)).isSent).toBe(true)
  })

  it('lets through what answers, however it answers, and what is forced', async () => {
    const breaker = aBreaker()
    for (let i = 0; i < 10; i++) expect((await breaker.run(() => BROKEN)).isSent).toBe(true)
    for (let i = 0; i < 3; i++) await breaker.run(() => SILENT)
    expect((await breaker.run(() => OK, true)).isSent).toBe(true)
  })
})
