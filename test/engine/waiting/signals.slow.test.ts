import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { ANONYMOUS } from '../../../lib/core/access.ts'
import type { Json } from '../../../lib/core/json/json.ts'
import { MAX_UNREAD_SIGNALS, SIGNAL_RECOUNT_MS } from '../../../lib/core/limits.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { sendSignal } from '../../../lib/engine/waiting/send-signal.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { executionOf } from '../../support/engine/executions.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { meterCapacity } from '../../support/proxy/observe.ts'
import { type HttpProxy, startProxy } from '../../support/proxy/start-proxy.ts'

const meter = meterCapacity()
let proxy: HttpProxy
beforeAll(async () => {
  proxy = await startProxy(inject('dynamodb'), meter.behavior)
})
afterAll(() => proxy.stop())

/** A run of this code that has not begun, and a clock that only the test moves. */
async function aRun(body: string) {
  let now = Date.now()
  const engine = {
    ...engineOn(openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url })),
    system: { ...system, now: () => ++now },
  }
  const code = `export default async (input, context) => { ${body} }`
  const version = await aModelAgent(
    { code: true, outputSchema: { type: 'object' }, slug: `signals-${system.newId()}` },
    { code },
  )
  const execution = executionOf(version, { input: { question: 'Why?' } })
  await engine.executions.create({ execution })
  const { id: executionId, organizationId } = execution
  const access = { ...ANONYMOUS, organizationId }
  return {
    engine,
    execution,
    passTime: (ms: number) => {
      now += ms
    },
    /** Starts it, or resumes it. */
    process: async () => {
      const wakes = Boolean((await engine.executions.get(execution))?.suspension)
      const message = { wakes, receiveCount: 1, changeVisibility: async () => undefined }
      await processMessage(engine, executionId, { message })
    },
    stored: () => engine.executions.get(execution),
    send: (data: Json, idempotencyKey?: string) =>
      sendSignal(engine, { executionId, access, name: 'go', data, idempotencyKey }),
  }
}

const TAKE = (count: number) => `
  const taken = []
  for (let i = 0; i < ${count}; i++)
    taken.push((await context.waitForAny('wait ' + i, { signals: ['go'] })).data.n)
  return { taken }`

const { count: MAX, bytes: MAX_BYTES } = MAX_UNREAD_SIGNALS

describe('a run', () => {
  it('has 1,000 unread signals of 10 kB at most, each stored at the price of itself', async () => {
    const run = await aRun('return {}')
    const text = Array.from({ length: 625 }, () => Math.random().toString(36).slice(2, 18)).join('')
    meter.take()
    for (let i = 0; i < MAX_BYTES / 10_000 - 1; i++) await run.send(text.slice(0, 9_998).padEnd(9_998, 'x'))
    const { readUnits } = meter.take()
    expect(readUnits).toBeLessThan(4_000)
    await run.send(1)
    await expect(run.send(1)).rejects.toMatchObject({
      code: 'TooManyRequests',
      headers: { 'Retry-After': '5' },
    })
    meter.take()
    await expect(run.send(1)).rejects.toMatchObject({ status: 429 })
    // It is not counted again at once.
    expect(meter.take().readUnits).toBeLessThan(5)
    expect(await run.engine.signals.list({ executionId: run.execution.id })).toHaveLength(MAX)
  })

  it('has 10 MB of unread signals at most', async () => {
    const run = await aRun('return {}')
    const large = 'x'.repeat(249_998)
    for (let i = 0; i < 40; i++) await run.send(large)
    await expect(run.send(large)).rejects.toMatchObject({ code: 'TooManyRequests' })
    await expect(run.send(1)).rejects.toMatchObject({ code: 'TooManyRequests' })
  })

  it('can get more signals when it has taken some', async () => {
    const run = await aRun(TAKE(41))
    const large = (n: number) => ({ n, text: 'x'.repeat(250_000 - `{"n":${n},"text":""}`.length) })
    for (let i = 0; i < 40; i++) await run.send(large(i))
    await expect(run.send(large(40))).rejects.toMatchObject({ status: 429 })
    await run.process()
    expect((await run.stored())?.suspension).not.toBeNull()
    await expect(run.send(large(40))).rejects.toMatchObject({ status: 429 })
    run.passTime(SIGNAL_RECOUNT_MS)
    await run.send(large(40))
    await run.process()
    expect((await run.stored())?.output).toEqual({ taken: Array.from({ length: 41 }, (_, n) => n) })
  })

  it('takes many signals in order and once, and forgets their data but not their keys', async () => {
    const count = 150
    const run = await aRun(TAKE(count + 1))
    for (let n = 0; n < count; n++) await run.send({ n }, `key ${n}`)
    await run.send({ n: 7 }, 'key 7')
    meter.take()
    await run.process()
    // The signals are read once, and once again when all are taken.
    expect(meter.take().readUnits).toBeLessThan(500)
    expect((await run.stored())?.suspension).not.toBeNull()
    expect(await run.engine.signals.list({ executionId: run.execution.id })).toEqual([])
    await run.send({ n: 3 }, 'key 3')
    await expect(run.send({ n: 4 }, 'key 3')).rejects.toMatchObject({ code: 'IdempotencyKeyReused' })
    await run.send({ n: count }, 'last')
    await run.process()
    expect((await run.stored())?.output).toEqual({ taken: Array.from({ length: count + 1 }, (_, n) => n) })
  })
})
