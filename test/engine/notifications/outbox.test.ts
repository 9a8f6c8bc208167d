import { describe, expect, it, vi } from 'vitest'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { Subject } from '../../../lib/core/notification.ts'
import { redeliver } from '../../../lib/engine/notifications/deliver.ts'
import { newOutboxMemory, sweepOutbox } from '../../../lib/engine/notifications/sweep-outbox.ts'
import { system } from '../../../lib/system.ts'
import { anOutbox, BROKEN, OK, SILENT } from '../../support/notifications/an-outbox.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

const HOUR_MS = 3_600_000

describe('withOutbox', () => {
  const { graceMs } = leaseTimes()

  /** Each in a table of its own: the position of the outbox is that of all organizations. */
  function open() {
    const table = memoryTable()
    return { ...anOutbox(table), table }
  }

  describe('the end of a run', () => {
    it('is delivered to each webhook that selects it, once', async () => {
      const outbox = open()
      const all = outbox.addWebhook()
      const failures = outbox.addWebhook({ types: ['execution.failed'] })
      outbox.addWebhook({ enabled: false })
      const run = await outbox.start()
      await outbox.finish(run)
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
      const failed = await outbox.start()
      await outbox.finish(failed, {
        status: 'ERROR',
        error: { code: 'AgentFailed', message: 'No.' },
      } as never)
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
      const outbox = open()
      const unheard = await outbox.start()
      await outbox.finish(unheard)
      outbox.addWebhook()
      outbox.pass(10)
      const child = await outbox.start({ parent: { executionId: system.newId(), callers: [] } })
      await outbox.finish(child)
      const draft = await outbox.start({ isDraft: true })
      await outbox.finish(draft)
      outbox.pass(2 * graceMs)
      await outbox.sweep()
      expect(outbox.messages()).toEqual([])
    })

    it('is found by the sweeper if its message is lost, and by no sweeper after it is handled', async () => {
      const outbox = open()
      outbox.addWebhook()
      const run = await outbox.start()
      outbox.setAccepting(false)
      await outbox.finish(run)
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
      const outbox = open()
      outbox.addWebhook()
      const run = await outbox.start()
      await outbox.finish(run)
      outbox.messages().push(...outbox.messages())
      await outbox.deliver()
      const { length } = outbox.sent
      expect(length).toBeLessThanOrEqual(2)
      expect(await outbox.deliveriesOf(run.id)).toHaveLength(1)
      await outbox.engine.queue.send({
        subject: { kind: 'execution', id: run.id },
        organizationId: outbox.organizationId,
      })
      await outbox.deliver()
      expect(outbox.sent).toHaveLength(length)
    })
  })

  describe('a run that waits for an approval', () => {
    it('is reported, and has its timer again afterwards', async () => {
      const outbox = open()
      outbox.addWebhook()
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
      const outbox = open()
      outbox.addWebhook()
      await outbox.suspend(await outbox.start(), [{ kind: 'sleep' }])
      expect(outbox.messages()).toEqual([])
    })

    it('sends both events if it resumes and ends before the first is delivered', async () => {
      const outbox = open()
      outbox.addWebhook()
      const run = await outbox.start()
      await outbox.suspend(run, [{ kind: 'signal', signals: ['go'] }])
      outbox.dropMessages()
      const woken = await outbox.wake(run.id)
      if (!woken) throw new Error('It was not resumed.')
      await outbox.finish(woken)
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
      const outbox = open()
      const webhook = outbox.addWebhook()
      outbox.answers.set(webhook.id, () => BROKEN)
      const run = await outbox.start()
      await outbox.finish(run)
      const startedAt = outbox.now()
      await outbox.deliver()
      for (let i = 0; i < 500 && (await outbox.deliveriesOf(run.id))[0]?.status === 'PENDING'; i++) {
        outbox.pass(HOUR_MS / 4)
        await outbox.sweep()
        await outbox.deliver()
      }
      expect(outbox.now() - startedAt).toBeLessThan(73 * HOUR_MS)
      expect(outbox.now() - startedAt).toBeGreaterThan(50 * HOUR_MS)
      const [delivery] = await outbox.deliveriesOf(run.id)
      expect(delivery).toMatchObject({
        status: 'FAILED',
        attempts: 11,
        responseStatus: 500,
        nextAttemptAt: null,
      })
      expect(new Set(outbox.sent.map(({ eventId }) => eventId)).size).toBe(1)
      outbox.answers.set(webhook.id, () => OK)
      const { organizationId } = outbox
      const eventId = `evt_${run.id}_2`
      const again = await redeliver(outbox.engine, { organizationId, destinationId: webhook.id, eventId })
      expect(again).toMatchObject({ status: 'DELIVERED', error: null })
      const other = { organizationId: system.newId(), destinationId: webhook.id, eventId }
      expect(await redeliver(outbox.engine, other)).toBeNull()
    })

    it('is found by the timers if its message is lost', async () => {
      const outbox = open()
      const webhook = outbox.addWebhook()
      outbox.answers.set(webhook.id, () => BROKEN)
      const run = await outbox.start()
      await outbox.finish(run)
      await outbox.deliver()
      outbox.dropMessages()
      outbox.answers.set(webhook.id, () => OK)
      outbox.pass(6 * graceMs)
      await outbox.sweep()
      await outbox.deliver()
      expect(await outbox.deliveriesOf(run.id)).toMatchObject([{ status: 'DELIVERED', attempts: 2 }])
      expect(outbox.webhooks.get(webhook.id)).toMatchObject({ enabled: true, failingSince: null })
    })

    it('disables a webhook that answers 410 at once, and one that fails for three days', async () => {
      const outbox = open()
      const gone = outbox.addWebhook()
      const failing = outbox.addWebhook()
      outbox.answers.set(gone.id, () => ({ ...BROKEN, responseStatus: 410, isGone: true }))
      outbox.answers.set(failing.id, () => BROKEN)
      for (let day = 0; day < 4; day++) {
        await outbox.finish(await outbox.start())
        await outbox.deliver()
        outbox.dropMessages()
        expect(outbox.webhooks.get(failing.id)?.enabled).toBe(day < 3)
        outbox.pass(24 * HOUR_MS + 1)
      }
      expect(outbox.webhooks.get(gone.id)).toMatchObject({ enabled: false, disabledReason: 'gone' })
      expect(outbox.webhooks.get(failing.id)).toMatchObject({ enabled: false, disabledReason: 'failing' })
    })

    it('does not hold up others: a receiver that hangs is tried by one worker at a time', async () => {
      const outbox = open()
      const healthy = outbox.addWebhook()
      const silent = outbox.addWebhook()
      outbox.answers.set(silent.id, () => SILENT)
      for (let i = 0; i < 20; i++) {
        await outbox.finish(await outbox.start())
        await outbox.deliver()
        outbox.dropMessages()
      }
      expect(outbox.sent.filter(({ destinationId }) => destinationId === healthy.id)).toHaveLength(20)
      expect(outbox.sent.filter(({ destinationId }) => destinationId === silent.id)).toHaveLength(3)
      outbox.pass(60_000)
      await outbox.finish(await outbox.start())
      await outbox.deliver()
      expect(outbox.sent.filter(({ destinationId }) => destinationId === silent.id)).toHaveLength(4)
    })
  })

  it('sends a record of more than 256 kB without payloads, which it does not read', async () => {
    const outbox = open()
    outbox.addWebhook()
    const text = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)))
      .toString('base64')
      .repeat(4)
    const run = await outbox.start({ input: { text } })
    await outbox.finish(run)
    const queries = vi.spyOn(outbox.table, 'query')
    await outbox.deliver()
    expect(outbox.sent).toMatchObject([{ data: { id: run.id, status: 'SUCCESS' } }])
    expect(outbox.sent[0]?.data).not.toHaveProperty('input')
    const read = await Promise.all(queries.mock.results.map(({ value }) => value))
    expect(read.flatMap(({ items }) => items).filter(({ data }) => data)).toEqual([])
  })
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
