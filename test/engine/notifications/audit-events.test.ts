import { describe, expect, it } from 'vitest'
import { audited } from '../../../lib/access/audit-log.ts'
import { webhookBody } from '../../../lib/contract/bodies/webhooks.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { EVENT_BUS, EVENT_TYPES, type WebhookEventType } from '../../../lib/core/notification.ts'
import { aChange } from '../../support/audit/a-change.ts'
import { anOutbox, BROKEN } from '../../support/notifications/an-outbox.ts'

const { graceMs } = leaseTimes()
const BUS = { EVENT_BUS: 'bus' }

/** The position of the outbox is that of all organizations of a table. */
function open(environment: object = BUS) {
  const outbox = anOutbox(undefined, { environment })
  const { organizationId, clock } = outbox
  const { audit } = outbox.stores
  const change = (work: () => Promise<unknown> = async () => 'made', parts = {}) =>
    audited({ audit, system: clock, isMarked: true, ...parts }, aChange(organizationId), work)
  /** The process dies while the change is in progress. */
  const die = () => change(undefined, { audit: { ...audit, end: () => Promise.reject(new Error('died')) } })
  /** The sweeper and the function that delivers run once a minute. */
  async function minutes(count: number) {
    for (let i = 0; i < count; i++) {
      outbox.pass(60_000)
      await outbox.sweep()
      await outbox.deliver()
    }
  }
  return { ...outbox, audit, change, die, minutes }
}

describe('audit.recorded', () => {
  it('is sent to the event bus once, within three minutes, without a message of the change', async () => {
    const { change, minutes, messages, sent, audit, organizationId, pass, sweep } = open()
    await change()
    expect(messages()).toEqual([])
    const { items } = await audit.list({ organizationId, limit: 10, after: null })
    await minutes(3)
    expect(sent).toHaveLength(1)
    await minutes(12)
    expect(sent).toEqual([
      {
        destinationId: EVENT_BUS,
        eventId: `evt_audit_${items[0]?.id}_1`,
        type: 'audit.recorded',
        data: { ...items[0], organizationId, result: 'SUCCEEDED' },
      },
    ])
    pass(60_000)
    await sweep()
    expect(messages()).toEqual([])
  })

  it('has the result of a change that failed', async () => {
    const { change, minutes, sent } = open()
    await change(() => Promise.reject(new Error('broken'))).catch(() => undefined)
    await minutes(3)
    expect(sent[0]?.data).toMatchObject({ result: 'FAILED', error: 'InternalError' })
  })

  it('waits for the result of a change that takes long', async () => {
    const { change, minutes, sent } = open()
    await change(() => minutes(10))
    expect(sent).toEqual([])
    await minutes(10)
    expect(sent).toMatchObject([{ data: { result: 'SUCCEEDED' } }])
  })

  it('is sent without a result if the process has died', async () => {
    const { die, minutes, sent } = open()
    await die()
    await minutes(14)
    expect(sent).toEqual([])
    await minutes(12)
    expect(sent).toMatchObject([{ data: { result: 'STARTED' } }])
  })

  it('is sent although messages are lost, and the bus fails', async () => {
    const { change, minutes, sent, answers, setAccepting, ...outbox } = open()
    await change()
    setAccepting(false)
    await expect(minutes(3)).rejects.toThrow('SQS')
    setAccepting(true)
    outbox.pass(2 * graceMs)
    await outbox.sweep()
    outbox.dropMessages()
    answers.set(EVENT_BUS, () => BROKEN)
    await minutes(12)
    expect(sent.length).toBeGreaterThan(0)
    const attempts = sent.length
    answers.delete(EVENT_BUS)
    await minutes(40)
    expect(sent.length).toBeGreaterThan(attempts)
    const subject = { kind: 'audit' as const, id: String(sent[0]?.data.id) }
    expect(await outbox.stores.deliveries.listOf(subject)).toMatchObject([{ status: 'DELIVERED' }])
  })

  it('is not sent to webhooks, whatever they select', async () => {
    const { change, minutes, sent, addWebhook } = open()
    addWebhook({ types: [...EVENT_TYPES] })
    // One that was not created by the API.
    addWebhook({ types: ['*', 'all'] as unknown as WebhookEventType[] })
    await change()
    await minutes(5)
    expect(sent.map(({ destinationId }) => destinationId)).toEqual([EVENT_BUS])
    expect(webhookBody.safeParse({ url: 'https://a.example', types: ['audit.recorded'] }).success).toBe(false)
  })

  it('is not sent without an event bus, also if it was marked', async () => {
    const { change, minutes, sent } = open({})
    await change()
    await change(undefined, { isMarked: false })
    expect(await minutes(15)).toBe(undefined)
    expect(sent).toEqual([])
  })
})
