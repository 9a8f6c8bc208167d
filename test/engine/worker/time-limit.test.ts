import { describe, expect, it } from 'vitest'
import type { NewExecution } from '../../../lib/core/execution.ts'
import { NEVER } from '../../../lib/engine/checkpoints/deadline.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { aModelAgent } from '../../support/engine/model-agent.ts'
import { aMessage, answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'

const table = memoryTable()
const { engine, aToolAgent, queued } = await startScriptedEngine(table)

const limitedTo = (timeoutSeconds: number) => ({
  execution: { useCache: false, cacheTtlSeconds: null, maxAgentSteps: 100, timeoutSeconds },
})
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

describe('timeoutSeconds', () => {
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
    await processMessage(first, execution.id, {
      ...aMessage(),
      deadline: { drain: NEVER, stop: stop.signal },
    })
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
      const deadline = { drain: drain.signal, stop: NEVER }
      await processMessage(on, execution.id, { ...aMessage(), deadline })
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
})

describe('the deadline', () => {
  it('is wall time: it ends a run that no worker had for long', async () => {
    const { on, passTime } = aClock()
    const { execution, stored } = await queued([answer], await aToolAgent(limitedTo(30)))
    passTime(execution.deadlineAt)
    await processMessage(on, execution.id, aMessage())
    expect(await stored()).toMatchObject({ error: { code: 'DeadlineExceeded' } })
  })
})
