import { afterAll, describe, expect, it } from 'vitest'
import { MAX_ATTEMPTS } from '../../../lib/core/limits.ts'
import { type Departure, departureIn, NEVER } from '../../../lib/engine/checkpoints/deadline.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { aModelAgent } from '../../support/model-agent.ts'
import { aDelivery, answer, lookup, startWorkbench } from '../../support/workbench.ts'

const { engine, aLookingAgent, waiting, stop } = await startWorkbench()
afterAll(stop)

/** A departure that is announced with the nth response of a model. */
function leavingAt(n: number) {
  const soon = new AbortController()
  const script = (index: number) => {
    if (index === n - 1) soon.abort()
  }
  return { leave: { soon: soon.signal, now: NEVER } satisfies Departure, script }
}

describe('a worker whose time runs low', () => {
  it('gives the run back at a checkpoint, and the next goes on from there', async () => {
    const version = await aLookingAgent()
    const { leave, script } = leavingAt(2)
    const { execution, stored, asked } = await waiting((_, index) => {
      script(index)
      return index < 4 ? lookup : answer
    }, version)
    const { delivery, sent } = aDelivery()
    expect(await processMessage(engine, execution.id, { delivery, leave })).toBe('ran')
    const { id: executionId, organizationId } = execution
    expect(sent).toEqual([{ executionId, organizationId, tenantId: null, delayMs: 0 }])
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null, steps: 2 })
    expect(asked()).toBe(2)
    expect(await processMessage(engine, execution.id, { delivery })).toBe('ran')
    expect(await stored()).toMatchObject({ status: 'SUCCESS', steps: 5, attempts: 2 })
    expect(asked()).toBe(5)
  })

  it('may do so as often as there are steps', async () => {
    const version = await aLookingAgent()
    const soon = { current: new AbortController() }
    const { execution, stored, asked } = await waiting((_, index) => {
      soon.current.abort()
      return index < 3 * MAX_ATTEMPTS ? lookup : answer
    }, version)
    for (let turn = 0; turn <= 3 * MAX_ATTEMPTS; turn++) {
      soon.current = new AbortController()
      const leave = { soon: soon.current.signal, now: NEVER }
      await processMessage(engine, execution.id, { delivery: aDelivery().delivery, leave })
    }
    expect(await stored()).toMatchObject({ status: 'SUCCESS', steps: 3 * MAX_ATTEMPTS + 1 })
    expect(asked()).toBe(3 * MAX_ATTEMPTS + 1)
  })

  it('lets go of a step that does not end in time', async () => {
    const now = new AbortController()
    const { execution, stored, asked } = await waiting((_, index) => {
      if (index === 0) now.abort()
      return index === 0 ? { ...answer, delayMs: 60_000 } : answer
    })
    const { delivery, sent } = aDelivery()
    await processMessage(engine, execution.id, { delivery, leave: { soon: NEVER, now: now.signal } })
    expect(sent).toHaveLength(1)
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null, steps: 0 })
    await processMessage(engine, execution.id, { delivery })
    expect(await stored()).toMatchObject({ status: 'SUCCESS' })
    expect(asked()).toBe(2)
  })

  it('leaves a code agent between two steps, who does not see it as a failure', async () => {
    const code = `export default async (_, { step, signal }) => {
      await step('one', () => 1)
      try { await step('two', () => 2) } catch { return { answer: 'caught' } }
      return { answer: 'both' }
    }`
    const version = await aModelAgent({ code: true }, code)
    const { execution, stored } = await waiting([], version)
    const soon = new AbortController()
    const steps = {
      ...engine.steps,
      append: async (params: Parameters<typeof engine.steps.append>[0]) => {
        const isOurs = await engine.steps.append(params)
        soon.abort()
        return isOurs
      },
    }
    const { delivery, sent } = aDelivery()
    const leave = { soon: soon.signal, now: NEVER }
    await processMessage({ ...engine, steps }, execution.id, { delivery, leave })
    expect(sent).toHaveLength(1)
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null })
    await processMessage(engine, execution.id, { delivery })
    expect(await stored()).toMatchObject({ status: 'SUCCESS', output: { answer: 'both' } })
  })

  it('is told some time before it has to go', async () => {
    const { soon, now } = departureIn(500)
    await new Promise((resolve) => soon.addEventListener('abort', resolve))
    expect(now.aborted).toBe(false)
    await new Promise((resolve) => now.addEventListener('abort', resolve))
  })
})
