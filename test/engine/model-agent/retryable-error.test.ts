import { afterAll, describe, expect, it } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../../lib/core/limits.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { aDelivery, answer, lookup, startWorkbench } from '../../support/workbench.ts'

const { engine, aLookingAgent, waiting, bury, stop } = await startWorkbench()
afterAll(stop)

describe('a passing fault', () => {
  const down = { status: 503, message: 'Overloaded.' }

  it('has the message come back, later each time, and the run goes on', async () => {
    const { execution, stored } = await waiting((_, index) => (index < 8 ? down : answer))
    const first = aDelivery(1)
    const second = aDelivery(2)
    const waits = [
      await processMessage(engine, execution.id, first),
      await processMessage(engine, execution.id, second),
    ].map((result) => (typeof result === 'string' ? 0 : result.comesBackMs))
    const { backoffMs } = leaseTimes()
    expect(waits[0]).toBeGreaterThanOrEqual(0.75 * backoffMs)
    expect(waits[0]).toBeLessThanOrEqual(1.25 * backoffMs)
    expect(waits[1]).toBeGreaterThanOrEqual(3 * 0.75 * backoffMs)
    expect([...first.sent, ...second.sent]).toEqual([])
    const released = await stored()
    expect(released).toMatchObject({
      status: 'IN_PROGRESS',
      lease: null,
      lastFault: { code: 'ModelUnavailable', step: 1 },
    })
    // The sweeper must not send another message before this one has come back.
    expect(released.openUntil).toBeGreaterThan(Date.now() + (waits[1] ?? 0))
    expect(await processMessage(engine, execution.id, aDelivery(3))).toBe('ran')
    expect(await stored()).toMatchObject({ status: 'SUCCESS', lastFault: null })
  })

  it('is waited out for as long as the provider says', async () => {
    const headers = { 'retry-after': '300' }
    const { execution, asked } = await waiting([{ ...down, status: 429, headers }])
    const result = await processMessage(engine, execution.id, aDelivery(1))
    expect(result).toEqual({ comesBackMs: 300_000 })
    expect(asked()).toBe(1)
  })

  it('after a step forward gets a message of its own, whose deliveries are counted anew', async () => {
    const version = await aLookingAgent()
    const { execution, stored } = await waiting((_, index) => (index === 0 ? lookup : down), version)
    const { delivery, sent } = aDelivery(MAX_ATTEMPTS)
    expect(await processMessage(engine, execution.id, { delivery })).toBe('ran')
    expect(sent).toHaveLength(1)
    expect(sent[0]?.delayMs).toBeGreaterThan(0)
    expect(await stored()).toMatchObject({ idleAttempts: 0, lastFault: { step: 2 } })
  })

  it('that does not pass ends the execution when its message is dead, with the last fault’s text', async () => {
    const { execution, stored } = await waiting(() => down)
    for (let count = 1; count <= MAX_ATTEMPTS; count++) {
      expect(await processMessage(engine, execution.id, aDelivery(count))).toHaveProperty('comesBackMs')
    }
    expect(await bury(execution)).toBe('ended')
    const { error } = await stored()
    expect(error).toMatchObject({ code: 'ModelUnavailable', step: 1 })
    expect(error?.message).toContain('Overloaded.')
    expect(await bury(execution)).toBe('left')
  })

  it('of the database gives the run back too', async () => {
    const { execution, stored } = await waiting([answer])
    const append = () => Promise.reject(new Unavailable(new Error('throttled')))
    const result = await processMessage(
      { ...engine, steps: { ...engine.steps, append } },
      execution.id,
      aDelivery(1),
    )
    expect(result).toHaveProperty('comesBackMs')
    expect(await stored()).toMatchObject({
      status: 'IN_PROGRESS',
      lease: null,
      lastFault: { code: 'Unavailable' },
    })
  })

  it('of the database at the very end does not throw the result away', async () => {
    const { execution, stored, asked } = await waiting([answer])
    let refused = 0
    const finish: typeof engine.executions.finish = (params) =>
      ++refused < 3 ? Promise.reject(new Unavailable(undefined)) : engine.executions.finish(params)
    const executions = { ...engine.executions, finish }
    expect(await processMessage({ ...engine, executions }, execution.id, aDelivery(1))).toBe('ran')
    expect(await stored()).toMatchObject({ status: 'SUCCESS' })
    expect(asked()).toBe(1)
  })
})
