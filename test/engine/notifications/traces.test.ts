import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { TRACES } from '../../../lib/core/notification.ts'
import { anOutbox, BROKEN, OK } from '../../support/notifications/an-outbox.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

const ENVIRONMENT = { OTLP_ENDPOINT: 'https://collector.example' }
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0'

const open = (environment: Record<string, string> = ENVIRONMENT) => anOutbox(memoryTable(), { environment })

type Outbox = ReturnType<typeof open>

/** Messages, timers and the outbox for a time. */
async function live(outbox: Outbox, ms: number, stepMs = 10 * 60_000) {
  for (const end = outbox.now() + ms; outbox.now() < end; outbox.pass(stepMs)) {
    await outbox.sweep()
    await outbox.deliver()
  }
}

const HOUR_MS = 3_600_000

let written: string[] = []

beforeEach(() => {
  written = []
  vi.stubEnv('METRICS_NAMESPACE', 'test')
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0)
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

/** The executions whose loss was published. */
const lost = () =>
  written
    .filter((line) => line.includes('"LostTraces":1'))
    .map((line): string => JSON.parse(line).executionId)

describe('the trace of a run', () => {
  it('is sent after its end, also of drafts, agents and trials, which have no events', async () => {
    const outbox = open()
    outbox.addWebhook()
    const replay = { isTrial: true } as never
    const runs = [
      await outbox.start(),
      await outbox.start({ isDraft: true }),
      await outbox.start({ parent: { executionId: outbox.clock.newId(), callers: [] } }),
      await outbox.start({ replay }),
    ]
    for (const run of runs) await outbox.finish(run)
    await outbox.deliver()
    expect(outbox.traced.sort()).toEqual(runs.map(({ id }) => id).sort())
    expect(outbox.sent.map(({ destinationId }) => destinationId)).toHaveLength(1)
    expect(outbox.messages()).toEqual([])
  })

  it('is none without a receiver, for a cached result, and if it is not sampled', async () => {
    const unset = open({})
    await unset.finish(await unset.start())
    const outbox = open()
    await outbox.finish(await outbox.start(), { cached: true } as never)
    await outbox.finish(await outbox.start({ traceparent: `${TRACEPARENT}0` }))
    for (const each of [unset, outbox]) {
      await each.deliver()
      expect(each.traced).toEqual([])
    }
    await outbox.finish(await outbox.start({ traceparent: `${TRACEPARENT}1` }))
    await outbox.deliver()
    expect(outbox.traced).toHaveLength(1)
  })

  it('is none for a run that was deleted before, nor before a repetition', async () => {
    const outbox = open()
    const { executions } = outbox.stores
    const remove = ({ id }: { id: string }) =>
      executions.delete({ organizationId: outbox.organizationId, id, now: outbox.now() })
    const early = await outbox.start()
    await outbox.finish(early)
    await remove(early)
    await outbox.deliver()
    expect(outbox.traced).toEqual([])
    outbox.answers.set(TRACES, () => BROKEN)
    const late = await outbox.start()
    await outbox.finish(late)
    await outbox.deliver()
    await remove(late)
    await live(outbox, 73 * HOUR_MS)
    expect(outbox.traced).toEqual([late.id])
    expect(lost()).toEqual([])
  })

  it('keeps no run of an agent that another one called from being deleted', async () => {
    const outbox = open()
    const child = await outbox.start({ parent: { executionId: outbox.clock.newId(), callers: [] } })
    await outbox.finish(child)
    await outbox.deliver()
    const { id, organizationId } = child
    expect(await outbox.stores.executions.delete({ organizationId, id, now: outbox.now() })).toBe('deleted')
  })

  it('is sent again until the receiver accepts it', async () => {
    const outbox = open()
    outbox.answers.set(TRACES, () => BROKEN)
    const run = await outbox.start()
    await outbox.finish(run)
    await outbox.deliver()
    outbox.answers.set(TRACES, () => OK)
    await live(outbox, 60_000, 1_000)
    expect(outbox.traced).toEqual([run.id, run.id])
    expect(await outbox.deliveriesOf(run.id)).toMatchObject([{ destinationId: TRACES, status: 'DELIVERED' }])
  })

  it('is counted as lost after 72 hours, once', async () => {
    const outbox = open()
    outbox.answers.set(TRACES, () => BROKEN)
    const run = await outbox.start()
    await outbox.finish(run)
    await live(outbox, 71 * HOUR_MS)
    expect(lost().length).toBeLessThanOrEqual(1)
    await live(outbox, 5 * HOUR_MS)
    expect(lost()).toEqual([run.id])
    expect(await outbox.deliveriesOf(run.id)).toMatchObject([{ status: 'FAILED', attempts: 11 }])
  })

  it('is lost at once if the receiver rejects it', async () => {
    const outbox = open()
    outbox.answers.set(TRACES, () => ({ ...BROKEN, isGone: true }))
    const run = await outbox.start()
    await outbox.finish(run)
    await outbox.deliver()
    expect(lost()).toEqual([run.id])
  })

  it('delays no webhook while its receiver hangs', async () => {
    const outbox = open()
    outbox.addWebhook()
    const hanging = Promise.withResolvers<typeof OK>()
    outbox.answers.set(TRACES, () => hanging.promise)
    await outbox.finish(await outbox.start())
    const delivering = outbox.deliver()
    await expect.poll(() => outbox.sent.length).toBe(1)
    hanging.resolve(OK)
    await delivering
    expect(outbox.traced).toHaveLength(1)
  })
})
