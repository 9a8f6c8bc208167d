import { describe, expect, it } from 'vitest'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { executionKey } from '../../../lib/dynamodb/table/keys.ts'
import { redeliver } from '../../../lib/engine/notifications/deliver.ts'
import { openDestinations } from '../../../lib/engine/notifications/destinations.ts'
import { withOutbox } from '../../../lib/engine/notifications/outbox.ts'
import { sendWake, wake } from '../../../lib/engine/waiting/wake.ts'
import { system } from '../../../lib/system.ts'
import { anOutbox, BROKEN, OK, SILENT } from '../../support/notifications/an-outbox.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

const { graceMs } = leaseTimes()
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

function open() {
  const table = memoryTable()
  return { ...anOutbox(table), table }
}

it('a receiver that hangs holds up no other URL that was given with a run', async () => {
  const outbox = open()
  const run = async (webhookUrl: string) => {
    await outbox.finish(await outbox.start({ webhookUrl }))
    await outbox.deliver()
  }
  outbox.answers.set('default', () => SILENT)
  for (let i = 0; i < 3; i++) await run('https://dead.example/')
  outbox.answers.set('default', () => OK)
  await run('https://healthy.example/')
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
  it('is resumed if the message that resumes it could not be sent before the event was delivered', async () => {
    const outbox = open()
    outbox.addWebhook()
    const run = await outbox.start()
    await outbox.suspend(run, [{ kind: 'signal', signals: ['go'] }], 7 * DAY_MS)
    const queue = { send: () => Promise.reject(new Error('SQS does not answer.')) }
    const signal = { id: 's', name: 'go', data: null, receivedAt: new Date().toISOString(), bytes: 4 }
    await outbox.stores.signals.put({ executionId: run.id, signal })
    const suspended = await outbox.stores.executions.getSummary(run)
    if (!suspended) throw new Error('It is missing.')
    await sendWake({ ...outbox.engine, executions: outbox.stores.executions, queue }, suspended)
    await outbox.deliver()
    expect(outbox.sent).toHaveLength(1)
    const timer = (await outbox.timerOf(run.id)) ?? Number.POSITIVE_INFINITY
    expect(timer - outbox.now()).toBeLessThan(5 * graceMs)
  })

  it('is resumed if the event is delivered while the message that resumes it fails', async () => {
    const outbox = open()
    outbox.addWebhook()
    const run = await outbox.start()
    await outbox.suspend(run, [{ kind: 'signal', signals: ['go'] }], 7 * DAY_MS)
    const suspended = await outbox.stores.executions.getSummary(run)
    if (!suspended) throw new Error('It is missing.')
    const queue = {
      async send() {
        await outbox.deliver()
        throw new Error('SQS does not answer.')
      },
    }
    await sendWake({ ...outbox.engine, executions: outbox.stores.executions, queue }, suspended)
    const timer = (await outbox.timerOf(run.id)) ?? Number.POSITIVE_INFINITY
    expect(timer - outbox.now()).toBeLessThan(5 * graceMs)
  })
})

it('a run that waits for many things many times fits into its record', async () => {
  const outbox = open()
  outbox.addWebhook()
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
  const outbox = open()
  outbox.addWebhook()
  const run = await outbox.start()
  await outbox.suspend(run, [{ kind: 'approval' }], HOUR_MS)
  outbox.setAccepting(false)
  const until = outbox.now() + HOUR_MS
  const wakes: number[] = []
  const queue = {
    send: async ({ delayMs = 0 }) => {
      wakes.push(outbox.now() + delayMs)
    },
  }
  const engine = { ...outbox.engine, ...outbox.stores, queue } as never
  // As the sweeper does at the longest interval.
  for (; outbox.now() < until; outbox.pass(10 * 60_000))
    await wake(engine, run.id, { owner: 'worker', expiresAt: outbox.now() })
  expect(wakes).toHaveLength(1)
  expect(Math.abs((wakes[0] ?? 0) - until)).toBeLessThan(1_000)
})

describe('the end of a run', () => {
  const endWith = async (parts: object) => {
    const outbox = open()
    const run = await outbox.start()
    const { executions } = withOutbox(
      {
        ...outbox.stores,
        webhooks: outbox.engine.webhooks as never,
        executions: executionStore(outbox.table),
      },
      { ...outbox.engine, ...parts } as never,
    )
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
  const outbox = open()
  outbox.addWebhook()
  const text = Buffer.from(crypto.getRandomValues(new Uint8Array(40_000))).toString('base64')
  const run = await outbox.start({ input: { text } })
  await outbox.finish(run)
  const { items } = await outbox.table.query({
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': executionKey(run.id).pk },
  })
  for (const { pk, sk, data } of items) if (data) await outbox.table.delete({ pk, sk } as never)
  await outbox.deliver()
  outbox.pass(10 * graceMs)
  expect(await outbox.sweep()).toBe(0)
  expect(outbox.sent).toMatchObject([{ data: { id: run.id, status: 'SUCCESS' } }])
})

it('an execution whose events are never handled holds up the log for three days at most', async () => {
  const outbox = open()
  outbox.addWebhook()
  await outbox.finish(await outbox.start())
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
    const outbox = open()
    const webhook = outbox.addWebhook()
    outbox.answers.set(webhook.id, () => {
      outbox.webhooks.set(webhook.id, { ...webhook, url: 'https://new.example/' })
      return { ...BROKEN, responseStatus: 410, isGone: true }
    })
    await outbox.finish(await outbox.start())
    await outbox.deliver()
    expect(outbox.webhooks.get(webhook.id)).toMatchObject({ enabled: true, disabledReason: null })
  })

  it('is not disabled by one failure if something was delivered in the last three days', async () => {
    const outbox = open()
    const webhook = outbox.addWebhook()
    outbox.answers.set(webhook.id, () => BROKEN)
    await outbox.finish(await outbox.start())
    await outbox.deliver()
    outbox.dropMessages()
    // Another process has read the webhook before, and does not know that it fails.
    const { failingSince } = outbox.webhooks.get(webhook.id) ?? {}
    outbox.webhooks.set(webhook.id, webhook)
    outbox.answers.set(webhook.id, () => OK)
    outbox.pass(10)
    await outbox.finish(await outbox.start())
    await outbox.deliver()
    outbox.webhooks.set(webhook.id, { ...webhook, failingSince: failingSince ?? null })
    outbox.pass(3 * DAY_MS)
    outbox.answers.set(webhook.id, () => BROKEN)
    await outbox.finish(await outbox.start())
    await outbox.deliver()
    expect(outbox.webhooks.get(webhook.id)).toMatchObject({ enabled: true })
  })
})

describe('a redelivery that fails', () => {
  it('takes no attempt from a pending delivery', async () => {
    const outbox = open()
    const { id: destinationId } = outbox.addWebhook()
    outbox.answers.set(destinationId, () => BROKEN)
    const run = await outbox.start()
    await outbox.finish(run)
    await outbox.deliver()
    const [before] = await outbox.deliveriesOf(run.id)
    const eventId = `evt_${run.id}_2`
    for (let i = 0; i < 12; i++)
      await redeliver(outbox.engine, { organizationId: outbox.organizationId, destinationId, eventId })
    const { attempts, status, nextAttemptAt } = before ?? {}
    expect(await outbox.deliveriesOf(run.id)).toMatchObject([{ attempts, status, nextAttemptAt }])
  })

  it('leaves a delivered one delivered', async () => {
    const outbox = open()
    const { id: destinationId } = outbox.addWebhook()
    const run = await outbox.start()
    await outbox.finish(run)
    await outbox.deliver()
    outbox.answers.set(destinationId, () => BROKEN)
    const ids = { organizationId: outbox.organizationId, destinationId, eventId: `evt_${run.id}_2` }
    expect(await redeliver(outbox.engine, ids)).toMatchObject({ responseStatus: 500 })
    expect(await outbox.deliveriesOf(run.id)).toMatchObject([{ status: 'DELIVERED', attempts: 1 }])
    expect(outbox.messages()).toEqual([])
  })
})

it('an execution that is entered long after its end is found by the sweeper', async () => {
  const outbox = open()
  outbox.addWebhook()
  const run = await outbox.start()
  const { executions } = outbox.stores
  const finishedAt = new Date(outbox.now()).toISOString()
  const ended = await executions.end({
    ...{ ...run, execution: run, finishedAt, staysListed: true },
    error: { code: 'AgentFailed', message: 'No.' },
  } as never)
  // Another one moves the position.
  outbox.pass(20 * graceMs)
  await outbox.finish(await outbox.start())
  await outbox.deliver()
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
  const outbox = open()
  const webhook = outbox.addWebhook()
  const run = await outbox.start()
  await outbox.finish(run)
  await outbox.deliver()
  const [delivery] = await outbox.deliveriesOf(run.id)
  if (!delivery) throw new Error('It has no delivery.')
  outbox.answers.set(webhook.id, () => BROKEN)
  await outbox.stores.executions.delete({ ...run, now: outbox.now() })
  const dueAt = outbox.now()
  const pending = { status: 'PENDING', nextAttemptAt: new Date(dueAt).toISOString() } as const
  await outbox.stores.deliveries.put({ delivery: { ...delivery, ...pending }, attempts: 0, dueAt })
  outbox.pass(60_000)
  await outbox.sweep()
  await outbox.deliver()
  expect(await outbox.deliveriesOf(run.id)).toEqual([])
})
