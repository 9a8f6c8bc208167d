import { describe, expect, it, vi } from 'vitest'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { Subject } from '../../../lib/core/notification.ts'
import { newOutboxMemory, sweepOutbox } from '../../../lib/engine/notifications/sweep-outbox.ts'
import { system } from '../../../lib/system.ts'
import { anOutbox, BROKEN, GONE, outboxTo, SILENT } from '../../support/notifications/an-outbox.ts'

const HOUR_MS = 3_600_000

const { graceMs } = leaseTimes()

describe('the end of a run', () => {
  it('is delivered to each webhook that selects it, once', async () => {
    const outbox = outboxTo()
    const all = outbox.webhook
    const failures = outbox.addWebhook({ types: ['execution.failed'] })
    outbox.addWebhook({ enabled: false })
    const run = await outbox.end()
    expect(outbox.messages()).toHaveLength(1)
    await outbox.deliver()
    expect(outbox.sent).toEqual([
      {
        destinationId: all.id,
        eventId: `evt_${run.id}_2`,
        type: 'execution.succeeded',
        data: expect.objectContaining({ id: run.id, output: { ok: true } }),
      },
    ])
    const error = { code: 'AgentFailed', message: 'No.' }
    await outbox.end({}, { status: 'ERROR', error } as never)
    const cancelled = await outbox.start()
    await outbox.cancel(cancelled.id, CANCELLED)
    await outbox.deliver()
    const told = outbox.sent.slice(1).map(({ destinationId, type }) => ({ destinationId, type }))
    expect(told).toHaveLength(3)
    expect(told).toEqual(
      expect.arrayContaining([
        { destinationId: failures.id, type: 'execution.failed' },
        { destinationId: all.id, type: 'execution.failed' },
        { destinationId: all.id, type: 'execution.cancelled' },
      ]),
    )
    outbox.pass(10 * graceMs)
    expect(await outbox.sweep()).toBe(0)
    expect(outbox.messages()).toEqual([])
  })

  it('is no event for children and drafts, nor without a webhook', async () => {
    const outbox = anOutbox()
    await outbox.end()
    outbox.addWebhook()
    outbox.pass(10)
    await outbox.end({ parent: { executionId: system.newId(), callers: [] } })
    await outbox.end({ isDraft: true })
    outbox.pass(2 * graceMs)
    await outbox.sweep()
    expect(outbox.messages()).toEqual([])
  })

  it('is found by the sweeper if its message is lost, and by no sweeper after it is handled', async () => {
    const outbox = outboxTo()
    outbox.setAccepting(false)
    await outbox.end()
    outbox.setAccepting(true)
    await outbox.sweep()
    expect(outbox.messages()).toEqual([])
    outbox.pass(2 * graceMs)
    expect(await outbox.sweep()).toBeGreaterThan(graceMs)
    expect(outbox.messages()).toHaveLength(1)
    // A backlog does not multiply.
    await outbox.sweep()
    expect(outbox.messages()).toHaveLength(1)
    outbox.dropMessages()
    outbox.pass(6 * graceMs)
    await outbox.sweep()
    await outbox.deliver()
    expect(outbox.sent).toHaveLength(1)
    outbox.pass(10 * graceMs)
    expect(await outbox.sweep()).toBe(0)
    expect(await outbox.stores.deliveries.getPosition()).toBeGreaterThan(0)
  })

  it('is sent once by two workers if the first has stored it, and twice at most', async () => {
    const outbox = outboxTo()
    const run = await outbox.end()
    outbox.messages().push(...outbox.messages())
    await outbox.deliver()
    const { length } = outbox.sent
    expect(length).toBeLessThanOrEqual(2)
    expect(await outbox.deliveriesOf(run.id)).toHaveLength(1)
    await outbox.engine.queue.send({ ...run, subject: { kind: 'execution', id: run.id } })
    await outbox.deliver()
    expect(outbox.sent).toHaveLength(length)
  })
})

describe('a run that waits for an approval', () => {
  it('is reported, and has its timer again afterwards', async () => {
    const outbox = outboxTo()
    const run = await outbox.start()
    await outbox.suspend(run, [{ kind: 'approval', id: 'a1' }])
    const timer = outbox.now() + HOUR_MS
    expect(await outbox.timerOf(run.id)).toBeLessThan(outbox.now() + 2 * graceMs)
    await outbox.deliver()
    const url = `/console#/approvals?item=${run.id}.a1`
    const data = { status: 'IN_PROGRESS', waitingFor: [{ kind: 'approval', url }] }
    expect(outbox.sent).toMatchObject([{ type: 'execution.waiting', data }])
    expect(Math.abs(((await outbox.timerOf(run.id)) ?? 0) - timer)).toBeLessThan(1_000)
  })

  it('is not reported if it only sleeps', async () => {
    const outbox = outboxTo()
    await outbox.suspend(await outbox.start(), [{ kind: 'sleep' }])
    expect(outbox.messages()).toEqual([])
  })

  it('sends both events if it resumes and ends before the first is delivered', async () => {
    const outbox = outboxTo()
    const run = await outbox.start()
    await outbox.suspend(run, [{ kind: 'signal', signals: ['go'] }])
    outbox.dropMessages()
    await outbox.finish((await outbox.wake(run.id)) as typeof run)
    await outbox.deliver()
    expect(outbox.sent.map(({ type, eventId }) => ({ type, eventId }))).toEqual(
      expect.arrayContaining([
        { type: 'execution.waiting', eventId: `evt_${run.id}_1` },
        { type: 'execution.succeeded', eventId: `evt_${run.id}_3` },
      ]),
    )
    const waiting = outbox.sent.find(({ type }) => type === 'execution.waiting')
    expect(waiting?.data).toMatchObject({ status: 'IN_PROGRESS', output: null, finishedAt: null })
  })
})

describe('a delivery that fails', () => {
  it('is repeated with growing delays over less than 72 hours, then failed, and can be redelivered', async () => {
    const outbox = outboxTo(BROKEN)
    const run = await outbox.tell()
    const startedAt = outbox.now()
    const isPending = async () => (await outbox.deliveriesOf(run.id))[0]?.status === 'PENDING'
    for (let i = 0; i < 500 && (await isPending()); i++)
      await outbox.live(HOUR_MS / 4, { stepMs: HOUR_MS / 4 })
    expect(outbox.now() - startedAt).toBeLessThan(73 * HOUR_MS)
    expect(outbox.now() - startedAt).toBeGreaterThan(50 * HOUR_MS)
    const failed = { status: 'FAILED', attempts: 11, responseStatus: 500, nextAttemptAt: null }
    expect(await outbox.deliveriesOf(run.id)).toMatchObject([failed])
    expect(new Set(outbox.sent.map(({ eventId }) => eventId)).size).toBe(1)
    outbox.answers.clear()
    const again = (other = {}) => outbox.redeliver(`evt_${run.id}_2`, outbox.webhook.id, other)
    expect(await again()).toMatchObject({ status: 'DELIVERED', error: null })
    expect(await again({ organizationId: system.newId() })).toBeNull()
  })

  it('is found by the timers if its message is lost', async () => {
    const outbox = outboxTo(BROKEN)
    const run = await outbox.tell()
    outbox.dropMessages()
    outbox.answers.clear()
    outbox.pass(6 * graceMs)
    await outbox.sweep()
    await outbox.deliver()
    expect(await outbox.deliveriesOf(run.id)).toMatchObject([{ status: 'DELIVERED', attempts: 2 }])
    expect(outbox.webhooks.get(outbox.webhook.id)).toMatchObject({ enabled: true, failingSince: null })
  })

  it('disables a webhook that answers 410 at once, and one that fails for three days', async () => {
    const outbox = outboxTo(GONE)
    const failing = outbox.addWebhook({}, BROKEN)
    for (let day = 0; day < 4; day++) {
      await outbox.tell()
      outbox.dropMessages()
      expect(outbox.webhooks.get(failing.id)?.enabled).toBe(day < 3)
      outbox.pass(24 * HOUR_MS + 1)
    }
    expect(outbox.webhooks.get(outbox.webhook.id)).toMatchObject({ enabled: false, disabledReason: 'gone' })
    expect(outbox.webhooks.get(failing.id)).toMatchObject({ enabled: false, disabledReason: 'failing' })
  })

  it('does not hold up others: a receiver that hangs is tried by one worker at a time', async () => {
    const outbox = outboxTo()
    const silent = outbox.addWebhook({}, SILENT)
    const sentTo = ({ id }: { id: string }) => outbox.sent.filter(({ destinationId }) => destinationId === id)
    for (let i = 0; i < 20; i++) {
      await outbox.tell()
      outbox.dropMessages()
    }
    expect([sentTo(outbox.webhook).length, sentTo(silent).length]).toEqual([20, 3])
    outbox.pass(60_000)
    await outbox.tell()
    expect(sentTo(silent)).toHaveLength(4)
  })
})

it('sends a record of more than 256 kB without payloads, which it does not read', async () => {
  const outbox = outboxTo()
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)))
  const run = await outbox.end({ input: { text: random.toString('base64').repeat(4) } })
  const queries = vi.spyOn(outbox.table, 'query')
  await outbox.deliver()
  expect(outbox.sent).toMatchObject([{ data: { id: run.id, status: 'SUCCESS' } }])
  expect(outbox.sent[0]?.data).not.toHaveProperty('input')
  const read = await Promise.all(queries.mock.results.map(({ value }) => value))
  expect(read.flatMap(({ items }) => items).filter(({ data }) => data)).toEqual([])
})

describe('sweepOutbox', () => {
  const PAGE_MS = 15_000

  it('continues a log that is too long for one sweep where the last one stopped', async () => {
    let now = 10 * HOUR_MS
    let position = 0
    const entries = Array.from({ length: 10 }, (_, hour) => ({
      ...{ subject: { kind: 'execution' as const, id: `run-${hour}` }, organizationId: 'o' },
      at: hour * HOUR_MS,
    }))
    const deliveries = {
      async *readOutbox({ from }: { from: number }) {
        for (const entry of entries.filter(({ at }) => at >= from)) {
          now += PAGE_MS
          yield { entries: [entry], until: entry.at }
        }
      },
      findHandled: async ({ subjects }: { subjects: Subject[] }) => new Set(subjects.map(({ id }) => id)),
      getPosition: async () => position,
      setPosition: async (params: { position: number }) => {
        position = params.position
      },
    }
    const positions: number[] = []
    const memory = newOutboxMemory()
    for (let sweep = 0; sweep < 10; sweep++) {
      const queue = { send: async () => undefined }
      const system = { now: () => now, newId: () => '' }
      await sweepOutbox({ deliveries, queue, system, times: leaseTimes(), memory })
      positions.push(position / HOUR_MS)
    }
    expect(positions.slice(0, 3)).toEqual([1, 2, 3])
    expect(position).toBeGreaterThan(9 * HOUR_MS)
  })
})
