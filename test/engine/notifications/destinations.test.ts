import { describe, expect, it } from 'vitest'
import { ANONYMOUS } from '../../../lib/core/access.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { Webhook } from '../../../lib/core/notification.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { circuitBreaker } from '../../../lib/engine/notifications/circuit-breaker.ts'
import { openDestinations } from '../../../lib/engine/notifications/destinations.ts'
import { createWebhook, updateWebhook } from '../../../lib/engine/notifications/webhooks.ts'
import { system } from '../../../lib/system.ts'
import { anExecution } from '../../support/engine/executions.ts'
import { sharedTable } from '../../support/engine/organization.ts'
import { BROKEN, OK, SILENT } from '../../support/notifications/an-outbox.ts'

describe('destinations', () => {
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
    destinations.forget(execution.organizationId)
    reads[0]?.()
    // None would lose the event: the execution would not be marked, or its events would count as handled.
    expect(await reading).toMatchObject([{ id: 'w' }])
  })

  it('sees at once what its own process changes, and otherwise reads webhooks once in 30 s', async () => {
    const stores = { ...openStores(sharedTable()), system }
    const execution = anExecution()
    const access = { ...ANONYMOUS, organizationId: execution.organizationId }
    const destinations = openDestinations(stores.webhooks, { environment: {} })
    const seen = async () => (await destinations.of(execution, 'execution.succeeded')).map(({ url }) => url)
    expect(await seen()).toEqual([])
    const body = { url: 'https://receiver.example/' }
    const { webhook } = await createWebhook(stores, { access, body, retentionDays: null })
    expect(await seen()).toEqual([body.url])
    const reference = { access, webhookId: webhook.id }
    await updateWebhook(stores, { ...reference, body: { enabled: false } })
    expect(await seen()).toEqual([])
    await updateWebhook(stores, { ...reference, body: { enabled: true } })
    expect(await seen()).toEqual([body.url])
    // As another process deletes it.
    await stores.webhooks.delete(webhook)
    expect(await seen()).toEqual([body.url])
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
