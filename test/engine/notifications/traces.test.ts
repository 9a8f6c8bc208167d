import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { TRACES } from '../../../lib/core/notification.ts'
import { anOutbox, BROKEN, GONE, OK } from '../../support/notifications/an-outbox.ts'

const ENVIRONMENT = { OTLP_ENDPOINT: 'https://collector.example' }
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0'

/** An outbox with a receiver of traces that answers this. */
function open(answer = OK, environment: Record<string, string> = ENVIRONMENT) {
  const outbox = anOutbox(undefined, { environment })
  outbox.answers.set(TRACES, () => answer)
  return outbox
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
    const runs = [
      await outbox.end(),
      await outbox.end({ isDraft: true }),
      await outbox.end({ parent: { executionId: outbox.clock.newId(), callers: [] } }),
      await outbox.end({ replay: { isTrial: true } as never }),
    ]
    await outbox.deliver()
    expect(outbox.traced.sort()).toEqual(runs.map(({ id }) => id).sort())
    expect(outbox.sent).toHaveLength(1)
    expect(outbox.messages()).toEqual([])
  })

  it('is none without a receiver, for a cached result, and if it is not sampled', async () => {
    const unset = open(OK, {})
    await unset.tell()
    const outbox = open()
    await outbox.tell({}, { cached: true } as never)
    await outbox.tell({ traceparent: `${TRACEPARENT}0` })
    expect([unset.traced, outbox.traced]).toEqual([[], []])
    await outbox.tell({ traceparent: `${TRACEPARENT}1` })
    expect(outbox.traced).toHaveLength(1)
  })

  it('is none for a run that was deleted before, nor before a repetition', async () => {
    const outbox = open()
    const { executions } = outbox.stores
    const remove = ({ id }: { id: string }) =>
      executions.delete({ organizationId: outbox.organizationId, id, now: outbox.now() })
    await remove(await outbox.end())
    await outbox.deliver()
    expect(outbox.traced).toEqual([])
    outbox.answers.set(TRACES, () => BROKEN)
    const late = await outbox.tell()
    await remove(late)
    await outbox.live(73 * HOUR_MS)
    expect(outbox.traced).toEqual([late.id])
    expect(lost()).toEqual([])
  })

  it('keeps no run of an agent that another one called from being deleted', async () => {
    const outbox = open()
    const parent = { executionId: outbox.clock.newId(), callers: [] }
    const { id, organizationId } = await outbox.tell({ parent })
    expect(await outbox.stores.executions.delete({ organizationId, id, now: outbox.now() })).toBe('deleted')
  })

  it('is sent again until the receiver accepts it', async () => {
    const outbox = open(BROKEN)
    const run = await outbox.tell()
    outbox.answers.set(TRACES, () => OK)
    await outbox.live(60_000, { stepMs: 1_000 })
    expect(outbox.traced).toEqual([run.id, run.id])
    expect(await outbox.deliveriesOf(run.id)).toMatchObject([{ destinationId: TRACES, status: 'DELIVERED' }])
  })

  it('is counted as lost after 72 hours, once', async () => {
    const outbox = open(BROKEN)
    const run = await outbox.end()
    await outbox.live(71 * HOUR_MS)
    expect(lost().length).toBeLessThanOrEqual(1)
    await outbox.live(5 * HOUR_MS)
    expect(lost()).toEqual([run.id])
    expect(await outbox.deliveriesOf(run.id)).toMatchObject([{ status: 'FAILED', attempts: 11 }])
  })

  it('is lost at once if the receiver rejects it', async () => {
    const { id } = await open(GONE).tell()
    expect(lost()).toEqual([id])
  })

  it('delays no webhook while its receiver hangs', async () => {
    const outbox = open()
    outbox.addWebhook()
    const hanging = Promise.withResolvers<typeof OK>()
    outbox.answers.set(TRACES, () => hanging.promise)
    await outbox.end()
    const delivering = outbox.deliver()
    await expect.poll(() => outbox.sent.length).toBe(1)
    hanging.resolve(OK)
    await delivering
    expect(outbox.traced).toHaveLength(1)
  })
})
