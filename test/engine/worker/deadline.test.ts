import { describe, expect, it } from 'vitest'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../../lib/core/limits.ts'
import type { NewExecution } from '../../../lib/core/new-execution.ts'
import { deadlineIn, NEVER, type WorkerDeadline } from '../../../lib/engine/checkpoints/deadline.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { aMessage, answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

const EXECUTION = { useCache: false, cacheTtlSeconds: null, maxAgentSteps: 100 }
const drainedBy = ({ signal }: AbortController): WorkerDeadline => ({ drain: signal, stop: NEVER })
const stoppedBy = ({ signal }: AbortController): WorkerDeadline => ({ drain: NEVER, stop: signal })

describe('a worker close to its deadline', async () => {
  const { engine, aToolAgent, queued } = await startScriptedEngine()

  it('releases the run at a checkpoint, and the next worker continues from there', async () => {
    const drain = new AbortController()
    const deadline = drainedBy(drain)
    const { execution, stored, modelRequests } = await queued(
      (_, index) => {
        if (index === 1) drain.abort()
        return index < 4 ? lookup : answer
      },
      await aToolAgent(),
    )
    const { message, sent } = aMessage()
    expect(await processMessage(engine, execution.id, { message, deadline })).toBe('processed')
    const { id: executionId, organizationId } = execution
    expect(sent).toEqual([{ executionId, organizationId, tenantId: null, sharesWorker: false, delayMs: 0 }])
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null, steps: 2 })
    expect(modelRequests()).toBe(2)
    expect(await processMessage(engine, execution.id, { message })).toBe('processed')
    expect(await stored()).toMatchObject({ status: 'SUCCESS', steps: 5, attempts: 2 })
    expect(modelRequests()).toBe(5)
  })

  it.each([
    ['releases it', false],
    ['dies', true],
  ])('may end the attempt after every result of a tool call: the worker %s', async (_, dies) => {
    const calls = 2 * MAX_ATTEMPTS
    const version = await aToolAgent({
      execution: { ...EXECUTION, timeoutSeconds: null, maxParallelToolCalls: 1 },
    })
    const many = { calls: Array.from({ length: calls }, () => ({ name: 'look_up', input: { id: 'x' } })) }
    const { execution, stored, modelRequests } = await queued([many, answer], version)
    const times = leaseTimes(1_000)
    const drain = { current: new AbortController() }
    const results: string[] = []
    const appendResult: typeof engine.steps.appendResult = async (params) => {
      const result = await engine.steps.appendResult(params)
      results.push(result.callId)
      drain.current.abort()
      return result
    }
    const release = dies ? async () => false : engine.executions.release
    for (let turn = 0; turn <= calls; turn++) {
      drain.current = new AbortController()
      const on = {
        ...engine,
        executions: { ...engine.executions, release },
        steps: { ...engine.steps, appendResult },
        system: { ...engine.system, now: () => Date.now() + (dies ? turn * 2 * times.leaseMs : 0) },
        times,
      }
      const deadline = drainedBy(drain.current)
      await processMessage(on, execution.id, { message: aMessage().message, deadline })
    }
    const { status, error, attempts } = await stored()
    expect({ status, error, attempts }).toEqual({ status: 'SUCCESS', error: null, attempts: calls + 1 })
    expect(new Set(results).size).toBe(calls)
    expect(results).toHaveLength(calls)
    expect(modelRequests()).toBe(2)
  })

  it('abandons a step that does not finish in time', async () => {
    const stop = new AbortController()
    const { execution, stored, modelRequests } = await queued((_, index) => {
      if (index === 0) stop.abort()
      return index === 0 ? { ...answer, delayMs: 60_000 } : answer
    })
    const { message, sent } = aMessage()
    await processMessage(engine, execution.id, { message, deadline: stoppedBy(stop) })
    expect(sent).toHaveLength(1)
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null, steps: 0 })
    await processMessage(engine, execution.id, { message })
    expect(await stored()).toMatchObject({ status: 'SUCCESS' })
    expect(modelRequests()).toBe(2)
  })

  it('stops a code agent between two steps without failing it', async () => {
    const code = `export default async (_, { step, signal }) => {
    await step('one', () => 1)
    try { await step('two', () => 2) } catch { return { answer: 'caught' } }
    return { answer: 'both' }
  }`
    const version = await aModelAgent({ code: true }, { code })
    const { execution, stored } = await queued([], version)
    const drain = new AbortController()
    const append: typeof engine.steps.append = async (params) => {
      const isOurs = await engine.steps.append(params)
      drain.abort()
      return isOurs
    }
    const { message, sent } = aMessage()
    const on = { ...engine, steps: { ...engine.steps, append } }
    await processMessage(on, execution.id, { message, deadline: drainedBy(drain) })
    expect(sent).toHaveLength(1)
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null })
    await processMessage(engine, execution.id, { message })
    expect(await stored()).toMatchObject({ status: 'SUCCESS', output: { answer: 'both' } })
  })

  it('drains before it stops', async () => {
    const { drain, stop } = deadlineIn(500)
    await new Promise((resolve) => drain.addEventListener('abort', resolve))
    expect(stop.aborted).toBe(false)
    await new Promise((resolve) => stop.addEventListener('abort', resolve))
  })
})

describe('timeoutSeconds', async () => {
  const table = memoryTable()
  const { engine, aToolAgent, queued } = await startScriptedEngine(table)

  const limitedTo = (timeoutSeconds: number) => ({ execution: { ...EXECUTION, timeoutSeconds } })
  const LINE = { id: system.newId(), customId: 'a', line: 0, lane: 0 }

  /** A clock that only the test moves forward. */
  function aClock() {
    let now = Date.now()
    const on = { ...engine, system: { ...system, now: () => now } }
    return {
      on,
      passTime: (seconds: number) => {
        now += seconds * 1_000
      },
    }
  }

  it.each<[string, string, Partial<NewExecution>]>([
    ['a run', 'was killed', {}],
    ['a line of a batch', 'was killed', { batch: LINE }],
    ['a run', 'has shut down', {}],
    ['a line of a batch', 'has shut down', { batch: LINE }],
  ])('does not count the time for which %s has no worker after its worker %s', async (_, end, given) => {
    const { on, passTime } = aClock()
    const stop = new AbortController()
    const { execution, stored } = await queued(
      (_request, index) => {
        if (index > 0) return answer
        stop.abort()
        return { ...answer, delayMs: 60_000 }
      },
      await aToolAgent(limitedTo(30)),
      { deadlineMs: 3_600_000, ...given },
    )
    const kill = { ...on, executions: { ...on.executions, release: async () => false } }
    const first = end === 'was killed' ? kill : on
    await processMessage(first, execution.id, { ...aMessage(), deadline: stoppedBy(stop) })
    passTime(90)
    await processMessage(on, execution.id, aMessage())
    expect(await stored()).toMatchObject({ status: 'SUCCESS', attempts: 2 })
  })

  it('counts the time of all workers', async () => {
    const { on, passTime } = aClock()
    let drain = new AbortController()
    const { execution, stored, modelRequests } = await queued(
      () => {
        passTime(20)
        drain.abort()
        return lookup
      },
      await aToolAgent(limitedTo(30)),
      { deadlineMs: 3_600_000 },
    )
    for (const _ of [1, 2, 3]) {
      drain = new AbortController()
      await processMessage(on, execution.id, { ...aMessage(), deadline: drainedBy(drain) })
      passTime(90)
    }
    const message = 'The run did not finish within 30 seconds.'
    expect(await stored()).toMatchObject({ attempts: 3, error: { code: 'TimedOut', message } })
    expect(modelRequests()).toBe(2)
  })

  it('counts neither a suspension nor the wait for a thread, but the time between them', async () => {
    const { on, passTime } = aClock()
    const code = `export default async (_, { step, sleep }) => {
    await step('before', () => 1)
    await sleep('nap', 600)
    return { answer: 'Slept.' }
  }`
    const version = await aModelAgent({ code: true, ...limitedTo(30) }, { code, table })
    const append = async (params: Parameters<typeof on.steps.append>[0]) => {
      if (params.step.kind === 'CODE') passTime(20)
      return on.steps.append(params)
    }
    /** A run has no thread yet when its code is read. */
    const getCode = (params: Parameters<typeof on.agents.getCode>[0]) => {
      passTime(40)
      return on.agents.getCode(params)
    }
    const slow = { ...on, steps: { ...on.steps, append }, agents: { ...on.agents, getCode } }
    const { execution, stored } = await queued([], version, { deadlineMs: 3_600_000 })
    await processMessage(slow, execution.id, aMessage())
    passTime(700)
    await processMessage(on, execution.id, aMessage())
    expect(await stored()).toMatchObject({ status: 'SUCCESS', workedMs: 20_000 })
  })

  it('does not extend its deadline, which is wall time: it ends a run that no worker had for long', async () => {
    const { on, passTime } = aClock()
    const { execution, stored } = await queued([answer], await aToolAgent(limitedTo(30)))
    passTime(execution.deadlineAt)
    await processMessage(on, execution.id, aMessage())
    expect(await stored()).toMatchObject({ error: { code: 'DeadlineExceeded' } })
  })
})
