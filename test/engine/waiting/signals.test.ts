import { describe, expect, it } from 'vitest'
import { toStepRecord } from '../../../lib/contract/records/step.ts'
import { ANONYMOUS } from '../../../lib/core/access.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { MAX_UNREAD_SIGNALS, SIGNAL_RECOUNT_MS } from '../../../lib/core/limits.ts'
import type { QueueMessage } from '../../../lib/core/ports/queues.ts'
import { SIGNAL_NAME_RULE } from '../../../lib/core/wait.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { listSignals, sendSignal } from '../../../lib/engine/waiting/send-signal.ts'
import { newSentTimers, sweepTimers } from '../../../lib/engine/waiting/sweep-timers.ts'
import { system } from '../../../lib/system.ts'
import { aRun as aCodeRun, aTable } from '../../support/engine/code-run.ts'
import { engineOn, NO_DELIVERIES } from '../../support/engine/engine-on.ts'
import { itemsIn } from '../../support/tables/items-in.ts'

/** A run of this code, and what sends signals to it. */
async function aRun(body: string, overrides: Partial<Engine> = {}) {
  const run = await aCodeRun(body, overrides)
  const { engine, execution, id: executionId } = run
  const reference = { executionId, access: { ...ANONYMOUS, organizationId: execution.organizationId } }
  return {
    ...run,
    send: (name: string, data: Json, idempotencyKey?: string) =>
      sendSignal(engine, { ...reference, name, data, idempotencyKey }),
    unread: async () => (await listSignals(engine, reference, {})).items.map(({ data }) => data),
  }
}

const NUMBERS = `return { data: await context.waitForSignal('go', { schema: { type: 'number' } }) }`
const WAITS = `return { data: await context.waitForSignal('go') }`

describe('sendSignal', () => {
  it.each(['before', 'after'])('resumes a run that is being suspended: %s that write', async (moment) => {
    const { executions } = engineOn(aTable)
    const suspend: typeof executions.suspend = async (params) => {
      if (moment === 'before') await run.send('go', 1)
      const isSuspended = await executions.suspend(params)
      if (moment === 'after') await run.send('go', 1)
      return isSuspended
    }
    const run = await aRun(WAITS, { executions: { ...executions, suspend } })
    await run.start()
    // The sender, the worker or both have noticed.
    expect(run.sent.length).toBeGreaterThan(0)
    expect(run.sent[0]).toMatchObject({ executionId: run.id, wakes: true })
    await run.wake()
    await run.wake()
    expect(await run.stored()).toMatchObject({ status: 'SUCCESS', output: { data: 1 }, attempts: 2 })
  })

  it('answers a sender who repeats the signal by which the run has ended', async () => {
    const run = await aRun(WAITS)
    await run.start()
    const { id } = await run.send('go', 1, 'payment-42')
    await run.send('other', 1, 'unread')
    await run.wake()
    expect(await run.stored()).toMatchObject({ status: 'SUCCESS', output: { data: 1 } })
    expect(await run.send('go', 1, 'payment-42')).toMatchObject({ id })
    await expect(run.send('go', 2, 'payment-42')).rejects.toMatchObject({ code: 'IdempotencyKeyReused' })
    for (const [name, key] of [['go'], ['go', 'new'], ['other', 'unread']] as const)
      await expect(run.send(name, 1, key)).rejects.toMatchObject({ code: 'ExecutionEnded' })
    expect(await run.unread()).toEqual([1])
  })

  it('tells the sender of a signal that a run has taken and ended meanwhile that it was delivered', async () => {
    const { signals } = engineOn(aTable)
    const put: typeof signals.put = async (params) => {
      const known = await signals.put(params)
      await run.start()
      return known
    }
    const run = await aRun(WAITS, { signals: { ...signals, put } })
    expect(await run.send('go', 1)).toMatchObject({ executionId: run.id })
    expect(await run.stored()).toMatchObject({ status: 'SUCCESS' })
  })

  it('never accepts a signal after the end was visible', async () => {
    const { signals } = engineOn(aTable)
    const put: typeof signals.put = async (params) => {
      await endExecution(run.engine, { ...run.execution, error: CANCELLED })
      return signals.put(params)
    }
    const run = await aRun(WAITS, { signals: { ...signals, put } })
    await run.start()
    await expect(run.send('go', 1)).rejects.toMatchObject({ code: 'ExecutionEnded' })
    expect(run.sent).toEqual([])
  })

  it('finds no execution that was deleted meanwhile, and the deletion leaves nothing', async () => {
    const { signals, executions } = engineOn(aTable)
    const data = Array.from({ length: 8_000 }, (_, index) => Math.sin(index))
    const put: typeof signals.put = async (params) => {
      const { id, organizationId } = run.execution
      await endExecution(run.engine, { ...run.execution, error: CANCELLED })
      await executions.delete({ organizationId, id, now: Date.now() })
      return signals.put(params)
    }
    const run = await aRun(WAITS, { signals: { ...signals, put } })
    await run.start()
    await expect(run.send('go', data)).rejects.toMatchObject({ code: 'ExecutionNotFound' })
    const { id } = run
    const itemsOf = async () => (await itemsIn(aTable, `EXEC#${id}`)).map(({ sk }) => String(sk))
    expect((await itemsOf()).some((sk) => sk.startsWith('PAYLOAD#SIGNAL#'))).toBe(true)
    // The store keeps events that nobody delivers for days.
    for (const minutes of [10, 20, 30, 40, 10_080, 10_090]) {
      const cleanup = { executionId: id, item: 'RECORD', dueAt: 0 }
      await executions.cleanUp({ cleanup, now: Date.now() + minutes * 60_000 })
    }
    // Until its usage is counted: the tombstone, and the end of the journal.
    expect(await itemsOf()).toEqual(['RECORD', 'STEP#00002'])
  })

  it('leaves the message that it cannot send to the sweeper', async () => {
    const send = () => Promise.reject(new Unavailable(new Error('down')))
    const run = await aRun(WAITS, { queue: { send } })
    await run.start()
    await run.send('go', 1)
    const times = leaseTimes()
    const ids: string[] = []
    const queue = {
      send: async () => undefined,
      sendBatch: async (batch: QueueMessage[]) =>
        void ids.push(...batch.map((message) => ('executionId' in message ? message.executionId : ''))),
    }
    const later = { ...system, now: () => Date.now() + times.leaseMs }
    const sent = newSentTimers()
    const { timers } = engineOn(aTable)
    await sweepTimers({ ...run.engine, timers, ...NO_DELIVERIES, queue, system: later, times, sent })
    expect(ids).toContain(run.id)
    await run.wake()
    expect(await run.stored()).toMatchObject({ output: { data: 1 } })
  })

  it('delivers a signal once, however often it is sent with its key, also after its wait', async () => {
    const twice = `const first = await context.waitForSignal('go')
      return { first, second: await context.waitForAny('next', { signals: ['go'] }) }`
    const run = await aRun(twice)
    const { id } = await run.send('go', 1, 'key')
    await run.start()
    expect((await run.send('go', 1, 'key')).id).toBe(id)
    await run.wake()
    expect((await run.stored()).suspension).not.toBeNull()
    await run.engine.signals.forget({ executionId: run.id, ids: [id] })
    await expect(run.send('go', 2, 'key')).rejects.toMatchObject({ code: 'IdempotencyKeyReused' })
    expect((await run.send('go', 1, 'key')).id).toBe(id)
    expect(await run.unread()).toEqual([])
    await run.send('go', 2, 'other')
    await run.wake()
    const output = { first: 1, second: { signal: 'go', data: 2 } }
    expect(await run.stored()).toMatchObject({ status: 'SUCCESS', output })
  })

  it('accepts data that one of several waits can take', async () => {
    const run = await aRun(`
      const schema = { type: 'number' }
      const [number, any] = await Promise.all([
        context.waitForSignal('go', { schema }), context.waitForAny('any', { signals: ['go', 'stop'] }),
      ])
      return { number, any }`)
    await run.start()
    await run.send('go', 'text')
    const onlyNumbers = await aRun(NUMBERS)
    await onlyNumbers.start()
    await expect(onlyNumbers.send('go', 'text')).rejects.toMatchObject({ code: 'InputSchemaMismatch' })
    await onlyNumbers.send('stop', 'text')
    expect([await run.unread(), await onlyNumbers.unread()]).toEqual([['text'], ['text']])
  })
})

describe('context.callbackUrl', () => {
  const URLS = `return {
    url: await context.step('url', () => context.callbackUrl('paid')),
    again: await context.callbackUrl('paid'),
    other: await context.callbackUrl('other'),
  }`

  it('returns the same URL for the same name, below the public URL', async () => {
    const run = await aRun(URLS, { environment: { PUBLIC_URL: 'https://api.example.com/live' } })
    await run.start()
    const { id, output, callbackSecret } = await run.stored()
    const { url, again, other } = output as Record<string, string>
    expect(url).toMatch(`https://api.example.com/live/v1/callbacks/${id}/paid/aescb_`)
    expect([again === url, other === url]).toEqual([true, false])
    expect(Buffer.from(callbackSecret ?? '', 'base64url')).toHaveLength(32)
  })

  it('throws in the agent without a public URL, and for a name that no signal can have', async () => {
    const caught = (name: string) => `await context.callbackUrl(${name}).catch(({ message }) => message)`
    const body = `return { paid: ${caught('"paid"')}, name: ${caught('"a/b"')}, none: ${caught('')} }`
    const withoutUrl = await aRun(body, { environment: {} })
    await withoutUrl.start()
    const { output, callbackSecret } = await withoutUrl.stored()
    expect(output?.paid).toMatch(/the setting publicUrl, or PUBLIC_URL of npm start\.$/)
    expect([output?.name, output?.none]).toEqual([SIGNAL_NAME_RULE, SIGNAL_NAME_RULE])
    expect(callbackSecret).toBeNull()
  })
})

it('a kept signal that does not match the schema of its wait is skipped, which the step shows', async () => {
  const run = await aRun(NUMBERS)
  await run.send('go', 'text')
  await run.send('go', 7)
  await run.start()
  expect(await run.stored()).toMatchObject({ output: { data: 7 }, attempts: 1 })
  const [step] = await run.engine.steps.read({ executionId: run.id })
  const skipped = [{ id: expect.any(String), reason: 'The value must be a number, not a string.' }]
  expect(step && toStepRecord(step)).toMatchObject({ result: 7, skipped })
})

describe('the unread signals of a run', () => {
  const { count: MAX, bytes: MAX_BYTES } = MAX_UNREAD_SIGNALS
  const REFUSED = { code: 'TooManyRequests', status: 429, headers: { 'Retry-After': '5' } }
  const takes = (count: number) => `
    const taken = []
    for (let i = 0; i < ${count}; i++)
      taken.push((await context.waitForAny('wait ' + i, { signals: ['go'] })).data.n)
    return { taken }`

  /** Time passes with each look at the clock. */
  let now = Date.now()
  const clock = { ...system, now: () => ++now }
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

  it('are 1,000 at most', async () => {
    const run = await aRun('return {}')
    for (let i = 0; i < MAX; i++) await run.send('go', 1)
    await expect(run.send('go', 1)).rejects.toMatchObject(REFUSED)
    expect(await run.engine.signals.list({ executionId: run.id })).toHaveLength(MAX)
  })

  it('have 10 MB at most, and may be more when the run has taken some', async () => {
    const size = 250_000
    const count = MAX_BYTES / size
    const run = await aRun(takes(count + 1), { system: clock })
    const large = (n: number) => ({ n, text: 'x'.repeat(size - `{"n":${n},"text":""}`.length) })
    for (let n = 0; n < count; n++) await run.send('go', large(n))
    for (const data of [large(count), 1]) await expect(run.send('go', data)).rejects.toMatchObject(REFUSED)
    await run.start()
    expect((await run.stored()).suspension).not.toBeNull()
    await expect(run.send('go', large(count))).rejects.toMatchObject(REFUSED)
    now += SIGNAL_RECOUNT_MS
    await run.send('go', large(count))
    await run.wake()
    expect((await run.stored()).output).toEqual({ taken: numbers(count + 1) })
  })

  it('are taken in order and once, and leave only their keys behind when they are many', async () => {
    const count = 110
    const run = await aRun(takes(count + 1), { system: clock })
    for (let n = 0; n < count; n++) await run.send('go', { n }, `key ${n}`)
    await run.send('go', { n: 7 }, 'key 7')
    await run.start()
    expect(await run.engine.signals.list({ executionId: run.id })).toEqual([])
    await run.send('go', { n: 3 }, 'key 3')
    await expect(run.send('go', { n: 4 }, 'key 3')).rejects.toMatchObject({ code: 'IdempotencyKeyReused' })
    await run.send('go', { n: count }, 'last')
    await run.wake()
    expect((await run.stored()).output).toEqual({ taken: numbers(count + 1) })
  })
})
