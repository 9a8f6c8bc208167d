import { describe, expect, it } from 'vitest'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { Delivery } from '../../../lib/core/notification.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import { openDestinations } from '../../../lib/engine/notifications/destinations.ts'
import { withOutbox } from '../../../lib/engine/notifications/outbox.ts'
import { sendWake, wake } from '../../../lib/engine/waiting/wake.ts'
import { system } from '../../../lib/system.ts'
import { anOutbox, BROKEN, GONE, OK, outboxTo, SILENT } from '../../support/notifications/an-outbox.ts'
import { itemsIn } from '../../support/tables/items-in.ts'

const { graceMs } = leaseTimes()
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

it('a receiver that hangs holds up no other URL that was given with a run', async () => {
  const outbox = anOutbox()
  outbox.answers.set('default', () => SILENT)
  for (let i = 0; i < 3; i++) await outbox.tell({ webhookUrl: 'https://dead.example/' })
  outbox.answers.set('default', () => OK)
  await outbox.tell({ webhookUrl: 'https://healthy.example/' })
  expect(outbox.sent).toHaveLength(4)
})

it('the list of webhooks is not that of before if it cannot be read', async () => {
  let webhooks: unknown[] = []
  let isBroken = false
  const list = async () => {
    if (isBroken) throw new Error('Throttled.')
    return webhooks as never
  }
  const destinations = openDestinations({ list }, { environment: {}, cachedMs: 1 })
  const execution = { organizationId: 'o', parentExecutionId: null, isDraft: false } as never
  expect(await destinations.of(execution, 'execution.failed')).toEqual([])
  webhooks = [{ id: 'new' }]
  isBroken = true
  await new Promise((resolve) => setTimeout(resolve, 5))
  await expect(destinations.of(execution, 'execution.failed')).rejects.toThrow('Throttled.')
})

describe('a run that waits, with an event', () => {
  const fail = () => Promise.reject(new Error('SQS does not answer.'))

  /** Suspends a run, and says how soon its timer resumes it when the message that would do so could not be sent. */
  async function timerAfter(
    resume: (params: {
      outbox: ReturnType<typeof outboxTo>
      executionId: string
      sendWith: (send: () => Promise<void>) => Promise<unknown>
    }) => Promise<unknown>,
  ) {
    const outbox = outboxTo()
    const run = await outbox.start()
    await outbox.suspend(run, [{ kind: 'signal', signals: ['go'] }], 7 * DAY_MS)
    const sendWith = async (send: () => Promise<void>) => {
      const suspended = await outbox.stores.executions.getSummary(run)
      const engine = { ...outbox.engine, executions: outbox.stores.executions, queue: { send } }
      return sendWake(engine, suspended as typeof run)
    }
    await resume({ outbox, executionId: run.id, sendWith })
    return ((await outbox.timerOf(run.id)) ?? Number.POSITIVE_INFINITY) - outbox.now()
  }

  it('is resumed if the message that resumes it could not be sent before the event was delivered', async () => {
    const afterMs = await timerAfter(async ({ outbox, executionId, sendWith }) => {
      const signal = { id: 's', name: 'go', data: null, receivedAt: new Date().toISOString(), bytes: 4 }
      await outbox.stores.signals.put({ executionId, signal })
      await sendWith(fail)
      await outbox.deliver()
      expect(outbox.sent).toHaveLength(1)
    })
    expect(afterMs).toBeLessThan(5 * graceMs)
  })

  it('is resumed if the event is delivered while the message that resumes it fails', async () => {
    const afterMs = await timerAfter(({ outbox, sendWith }) => sendWith(() => outbox.deliver().then(fail)))
    expect(afterMs).toBeLessThan(5 * graceMs)
  })
})

it('a run that waits for many things many times fits into its record', async () => {
  const outbox = outboxTo()
  let run = await outbox.start()
  const waits = Array.from({ length: 100 }, (_, i) => ({
    ...{ kind: 'approval' as const, id: system.newId(), step: i },
    name: String(i).padStart(128, '0'),
  }))
  for (let i = 0; i < 25; i++) {
    expect(await outbox.suspend(run, waits)).toBe(true)
    run = (await outbox.wake(run.id)) as typeof run
  }
  expect(JSON.stringify(run.pendingEvents).length).toBeLessThan(25_000)
  expect(run.pendingEvents).toHaveLength(20)
})

it('a run whose event is not delivered is resumed at its time', async () => {
  const outbox = outboxTo()
  const run = await outbox.start()
  await outbox.suspend(run, [{ kind: 'approval' }], HOUR_MS)
  outbox.setAccepting(false)
  const until = outbox.now() + HOUR_MS
  const wakes: number[] = []
  const queue = { send: async ({ delayMs = 0 }) => void wakes.push(outbox.now() + delayMs) }
  const engine = { ...outbox.engine, ...outbox.stores, queue } as never
  // As the sweeper does at the longest interval.
  for (; outbox.now() < until; outbox.pass(10 * 60_000))
    await wake(engine, run.id, { owner: 'worker', expiresAt: outbox.now() })
  expect(wakes).toHaveLength(1)
  expect(Math.abs((wakes[0] ?? 0) - until)).toBeLessThan(1_000)
})

describe('the end of a run', () => {
  const endWith = async (parts: object) => {
    const outbox = anOutbox()
    const run = await outbox.start()
    const plain = { webhooks: outbox.engine.webhooks as never, executions: executionStore(outbox.table) }
    const process = { ...outbox.engine, ...parts } as never
    const { executions } = withOutbox({ ...outbox.stores, ...plain }, process)
    const outcome = { status: 'SUCCESS', output: {}, steps: 0, usage: run.usage, model: null } as never
    const finishedAt = new Date(outbox.now()).toISOString()
    await executions.finish({ execution: run, outcome, finishedAt })
    outbox.pass(2 * graceMs)
    await outbox.sweep()
    return outbox.messages()
  }
  const hang = () => new Promise<never>(() => undefined)
  const destinations = { of: async () => [{}] }

  it('waits only shortly for a queue that hangs, or for the list of webhooks: the run is marked then', async () => {
    const sent = endWith({ destinations, queue: { send: hang } })
    const listed = endWith({ destinations: { of: hang } })
    expect((await Promise.all([sent, listed])).map(({ length }) => length)).toEqual([1, 2])
  })
})

it('a record that lacks a chunk is delivered without payloads, and the log goes on', async () => {
  const outbox = outboxTo()
  const text = Buffer.from(crypto.getRandomValues(new Uint8Array(40_000))).toString('base64')
  const run = await outbox.end({ input: { text } })
  for (const { pk, sk, data } of await itemsIn(outbox.table, executionKey(run.id).pk))
    if (data) await outbox.table.delete({ pk, sk } as never)
  await outbox.deliver()
  outbox.pass(10 * graceMs)
  expect(await outbox.sweep()).toBe(0)
  expect(outbox.sent).toMatchObject([{ data: { id: run.id, status: 'SUCCESS' } }])
})

it('an execution whose events are never handled holds up the log for three days at most', async () => {
  const outbox = outboxTo()
  await outbox.end()
  outbox.dropMessages()
  outbox.pass(2 * DAY_MS)
  expect(await outbox.sweep()).toBeGreaterThan(DAY_MS)
  outbox.dropMessages()
  outbox.pass(DAY_MS)
  expect(await outbox.sweep()).toBe(0)
  expect(outbox.messages()).toHaveLength(1)
  await outbox.sweep()
  expect(outbox.messages()).toHaveLength(1)
})

describe('a webhook', () => {
  it('is not disabled by an answer of the URL that it had before', async () => {
    const outbox = outboxTo()
    const { webhook } = outbox
    outbox.answers.set(webhook.id, () => {
      outbox.webhooks.set(webhook.id, { ...webhook, url: 'https://new.example/' })
      return GONE
    })
    await outbox.tell()
    expect(outbox.webhooks.get(webhook.id)).toMatchObject({ enabled: true, disabledReason: null })
  })

  it('is not disabled by one failure if something was delivered in the last three days', async () => {
    const outbox = outboxTo(BROKEN)
    const { webhook } = outbox
    await outbox.tell()
    outbox.dropMessages()
    // Another process has read the webhook before, and does not know that it fails.
    const { failingSince } = outbox.webhooks.get(webhook.id) ?? {}
    outbox.webhooks.set(webhook.id, webhook)
    outbox.answers.set(webhook.id, () => OK)
    outbox.pass(10)
    await outbox.tell()
    outbox.webhooks.set(webhook.id, { ...webhook, failingSince: failingSince ?? null })
    outbox.pass(3 * DAY_MS)
    outbox.answers.set(webhook.id, () => BROKEN)
    await outbox.tell()
    expect(outbox.webhooks.get(webhook.id)).toMatchObject({ enabled: true })
  })
})

describe('a redelivery that fails', () => {
  it('takes no attempt from a pending delivery', async () => {
    const outbox = outboxTo(BROKEN)
    const run = await outbox.tell()
    const [before] = await outbox.deliveriesOf(run.id)
    for (let i = 0; i < 12; i++) await outbox.redeliver(`evt_${run.id}_2`, outbox.webhook.id)
    const { attempts, status, nextAttemptAt } = before ?? {}
    expect(await outbox.deliveriesOf(run.id)).toMatchObject([{ attempts, status, nextAttemptAt }])
  })

  it('leaves a delivered one delivered', async () => {
    const outbox = outboxTo()
    const run = await outbox.tell()
    outbox.answers.set(outbox.webhook.id, () => BROKEN)
    const again = await outbox.redeliver(`evt_${run.id}_2`, outbox.webhook.id)
    expect(again).toMatchObject({ responseStatus: 500 })
    expect(await outbox.deliveriesOf(run.id)).toMatchObject([{ status: 'DELIVERED', attempts: 1 }])
    expect(outbox.messages()).toEqual([])
  })
})

it('an execution that is entered long after its end is found by the sweeper', async () => {
  const outbox = outboxTo()
  const run = await outbox.start()
  const { executions } = outbox.stores
  const finishedAt = new Date(outbox.now()).toISOString()
  const ended = await executions.end({
    ...{ ...run, execution: run, finishedAt, staysListed: true },
    error: { code: 'AgentFailed', message: 'No.' },
  } as never)
  // Another one moves the position.
  outbox.pass(20 * graceMs)
  await outbox.tell()
  outbox.pass(6 * graceMs)
  await outbox.sweep()
  expect(await outbox.stores.deliveries.getPosition()).toBeGreaterThan(Date.parse(finishedAt))
  outbox.setAccepting(false)
  await executions.settle({ execution: ended as never, until: null })
  outbox.setAccepting(true)
  outbox.pass(6 * graceMs)
  await outbox.sweep()
  await outbox.deliver()
  expect(outbox.sent).toHaveLength(2)
})

it('a delivery that was stored after its execution was deleted is removed with its next attempt', async () => {
  const outbox = outboxTo()
  const run = await outbox.tell()
  const [delivery] = (await outbox.deliveriesOf(run.id)) as [Delivery]
  outbox.answers.set(outbox.webhook.id, () => BROKEN)
  await outbox.stores.executions.delete({ ...run, now: outbox.now() })
  const dueAt = outbox.now()
  const pending = { status: 'PENDING', nextAttemptAt: new Date(dueAt).toISOString() } as const
  await outbox.stores.deliveries.put({ delivery: { ...delivery, ...pending }, attempts: 0, dueAt })
  outbox.pass(60_000)
  await outbox.sweep()
  await outbox.deliver()
  expect(await outbox.deliveriesOf(run.id)).toEqual([])
})
