import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ambient } from '../../lib/ambient.ts'
import type { Version } from '../../lib/core/agent.ts'
import { Unavailable } from '../../lib/core/errors.ts'
import type { Execution } from '../../lib/core/execution.ts'
import { leaseTimes } from '../../lib/core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../lib/core/limits.ts'
import type { QueuedExecution } from '../../lib/core/ports.ts'
import { agentStore } from '../../lib/dynamodb/agent-store.ts'
import { cacheStore } from '../../lib/dynamodb/cache-store.ts'
import { executionStore } from '../../lib/dynamodb/execution-store.ts'
import { stepStore } from '../../lib/dynamodb/step-store.ts'
import { buryExecution } from '../../lib/engine/bury-execution.ts'
import { type Departure, departureIn, NEVER } from '../../lib/engine/departure.ts'
import type { Engine } from '../../lib/engine/engine.ts'
import { takeUpExecution } from '../../lib/engine/take-up-execution.ts'
import { anExecution } from '../support/executions.ts'
import {
  aModelAgent,
  finalAnswer,
  httpTool,
  startToolServer,
  type ToolServer,
} from '../support/model-agent.ts'
import { sharedTable } from '../support/organization.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import type { Script } from '../support/scripted-model/turn.ts'

const table = sharedTable()
let scripted: ScriptedModel
let server: ToolServer
let engine: Engine

beforeAll(async () => {
  scripted = await startScriptedModel()
  server = await startToolServer((path, response) => void response.end(JSON.stringify({ path })))
  engine = {
    agents: agentStore(table),
    executions: executionStore(table),
    steps: stepStore(table),
    cache: cacheStore(table),
    ambient,
    environment: scripted.environmentFor(),
    times: { ...leaseTimes(), firstWaitMs: 1 },
  }
})
afterAll(async () => {
  await scripted.stop()
  await server.stop()
})

/** A queue that keeps what it is sent, and a delivery of one message from it. */
function aDelivery(count = 1) {
  const sent: (QueuedExecution & { delayMs?: number })[] = []
  const hidden: number[] = []
  const queue = { send: async (message: QueuedExecution & { delayMs?: number }) => void sent.push(message) }
  const hide = async (ms: number) => void hidden.push(ms)
  return { sent, hidden, delivery: { queue, hide, count } }
}

/** An execution of a model agent that waits for its worker, which follows the script. */
async function waiting(script: Script, version?: Version) {
  const { organizationId, agentId, id: versionId } = version ?? (await aModelAgent())
  const model = ambient.newId()
  scripted.script(model, script)
  const options = {
    maxAgentSteps: 500,
    model: scripted.modelFor('openai-compatible', model),
    useDynamicLearning: false,
  }
  const execution = anExecution({ organizationId, agentId, versionId, input: { question: 'Why?' }, options })
  await engine.executions.create({ execution })
  const stored = async () => {
    const found = await engine.executions.get(execution)
    if (!found) throw new Error('The execution is gone.')
    return found
  }
  return { execution, stored, asked: () => scripted.requests(model).length }
}

const PROGRESS = { steps: 1, usage: { inputTokens: 0, outputTokens: 0 }, model: null }

const bury = ({ id, organizationId }: Execution) =>
  buryExecution({
    executions: engine.executions,
    queue: aDelivery().delivery.queue,
    ambient,
    organizationId,
    id,
  })

/** A departure that is announced with the nth response of a model. */
function leavingAt(n: number) {
  const soon = new AbortController()
  const script = (index: number) => {
    if (index === n - 1) soon.abort()
  }
  return { leave: { soon: soon.signal, now: NEVER } satisfies Departure, script }
}

const lookup = { calls: [{ name: 'look_up', input: { id: 'x' } }] }
const answer = { calls: [finalAnswer({ answer: 'Because.' })] }

describe('a worker whose time runs low', () => {
  it('gives the run back at a checkpoint, and the next goes on from there', async () => {
    const version = await aModelAgent({ tools: [httpTool(server, 'look_up', '/things/{id}')] })
    const { leave, script } = leavingAt(2)
    const { execution, stored, asked } = await waiting((_, index) => {
      script(index)
      return index < 4 ? lookup : answer
    }, version)
    const { delivery, sent } = aDelivery()
    expect(await takeUpExecution(engine, execution.id, { delivery, leave })).toBe('ran')
    const { id: executionId, organizationId } = execution
    expect(sent).toEqual([{ executionId, organizationId, tenantId: null, delayMs: 0 }])
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null, steps: 2 })
    expect(asked()).toBe(2)
    expect(await takeUpExecution(engine, execution.id, { delivery })).toBe('ran')
    expect(await stored()).toMatchObject({ status: 'SUCCESS', steps: 5, attempts: 2 })
    expect(asked()).toBe(5)
  })

  it('may do so as often as there are steps', async () => {
    const version = await aModelAgent({ tools: [httpTool(server, 'look_up', '/things/{id}')] })
    const soon = { current: new AbortController() }
    const { execution, stored, asked } = await waiting((_, index) => {
      soon.current.abort()
      return index < 3 * MAX_ATTEMPTS ? lookup : answer
    }, version)
    for (let turn = 0; turn <= 3 * MAX_ATTEMPTS; turn++) {
      soon.current = new AbortController()
      const leave = { soon: soon.current.signal, now: NEVER }
      await takeUpExecution(engine, execution.id, { delivery: aDelivery().delivery, leave })
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
    await takeUpExecution(engine, execution.id, { delivery, leave: { soon: NEVER, now: now.signal } })
    expect(sent).toHaveLength(1)
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null, steps: 0 })
    await takeUpExecution(engine, execution.id, { delivery })
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
    await takeUpExecution({ ...engine, steps }, execution.id, { delivery, leave })
    expect(sent).toHaveLength(1)
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null })
    await takeUpExecution(engine, execution.id, { delivery })
    expect(await stored()).toMatchObject({ status: 'SUCCESS', output: { answer: 'both' } })
  })

  it('is told some time before it has to go', async () => {
    const { soon, now } = departureIn(500)
    await new Promise((resolve) => soon.addEventListener('abort', resolve))
    expect(now.aborted).toBe(false)
    await new Promise((resolve) => now.addEventListener('abort', resolve))
  })
})

describe('a passing fault', () => {
  const down = { status: 503, message: 'Overloaded.' }

  it('has the message come back, later each time, and the run goes on', async () => {
    const { execution, stored } = await waiting((_, index) => (index < 8 ? down : answer))
    const first = aDelivery(1)
    const second = aDelivery(2)
    const waits = [
      await takeUpExecution(engine, execution.id, first),
      await takeUpExecution(engine, execution.id, second),
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
    expect(await takeUpExecution(engine, execution.id, aDelivery(3))).toBe('ran')
    expect(await stored()).toMatchObject({ status: 'SUCCESS', lastFault: null })
  })

  it('is waited out for as long as the provider says', async () => {
    const headers = { 'retry-after': '300' }
    const { execution, asked } = await waiting([{ ...down, status: 429, headers }])
    const result = await takeUpExecution(engine, execution.id, aDelivery(1))
    expect(result).toEqual({ comesBackMs: 300_000 })
    expect(asked()).toBe(1)
  })

  it('after a step forward gets a message of its own, whose deliveries are counted anew', async () => {
    const version = await aModelAgent({ tools: [httpTool(server, 'look_up', '/things/{id}')] })
    const { execution, stored } = await waiting((_, index) => (index === 0 ? lookup : down), version)
    const { delivery, sent } = aDelivery(MAX_ATTEMPTS)
    expect(await takeUpExecution(engine, execution.id, { delivery })).toBe('ran')
    expect(sent).toHaveLength(1)
    expect(sent[0]?.delayMs).toBeGreaterThan(0)
    expect(await stored()).toMatchObject({ idleAttempts: 0, lastFault: { step: 2 } })
  })

  it('that does not pass ends the execution when its message is dead, with the last fault’s text', async () => {
    const { execution, stored } = await waiting(() => down)
    for (let count = 1; count <= MAX_ATTEMPTS; count++) {
      expect(await takeUpExecution(engine, execution.id, aDelivery(count))).toHaveProperty('comesBackMs')
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
    const result = await takeUpExecution(
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
    expect(await takeUpExecution({ ...engine, executions }, execution.id, aDelivery(1))).toBe('ran')
    expect(await stored()).toMatchObject({ status: 'SUCCESS' })
    expect(asked()).toBe(1)
  })
})

describe('takeUpExecution', () => {
  it('hides the message for longer than the lease, at once', async () => {
    const { execution, stored } = await waiting([answer])
    const { delivery, hidden } = aDelivery()
    await takeUpExecution(engine, execution.id, { delivery })
    expect(hidden).toEqual([leaseTimes().hiddenMs])
    expect(leaseTimes().hiddenMs).toBeGreaterThan(leaseTimes().leaseMs)
    expect((await stored()).status).toBe('SUCCESS')
  })

  it('leaves an execution that somebody works on, and a dead letter does not end it', async () => {
    const { execution, stored } = await waiting([])
    const lease = { owner: 'another', expiresAt: Date.now() + 60_000 }
    await engine.executions.claim({ id: execution.id, lease, now: Date.now() })
    expect(await takeUpExecution(engine, execution.id, aDelivery())).toBe('held')
    await engine.executions.renew({ id: execution.id, lease, progress: PROGRESS })
    expect(await bury(execution)).toBe('enqueued')
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease, attempts: 1 })
  })

  it('ends a run whose workers died too often without a step forward', async () => {
    const { execution, stored, asked } = await waiting([])
    for (let now = Date.now() - 1_000_000, n = 0; n < MAX_ATTEMPTS; n++, now += 100_000) {
      await engine.executions.claim({ id: execution.id, lease: { owner: `${n}`, expiresAt: now + 1 }, now })
    }
    expect(await takeUpExecution(engine, execution.id, aDelivery())).toBe('ran')
    expect(await stored()).toMatchObject({ status: 'ERROR', error: { code: 'AttemptsExhausted' } })
    expect((await stored()).error?.message).toContain(`${MAX_ATTEMPTS} times`)
    expect(asked()).toBe(0)
  })

  it('has a run whose message is dead go on if there were steps forward between its workers’ deaths', async () => {
    const { execution, stored } = await waiting([answer])
    let now = Date.now() - 1_000_000
    const die = async () => {
      now += 100_000
      const lease = { owner: ambient.newId(), expiresAt: now + 1 }
      await engine.executions.claim({ id: execution.id, lease, now })
      return lease
    }
    for (let n = 0; n < MAX_ATTEMPTS - 1; n++) await die()
    const lease = await die()
    await engine.executions.renew({ id: execution.id, lease, progress: PROGRESS })
    expect(await bury(execution)).toBe('enqueued')
    expect((await stored()).status).toBe('IN_PROGRESS')
    for (let n = 0; n < MAX_ATTEMPTS; n++) await die()
    expect(await bury(execution)).toBe('ended')
    expect((await stored()).error?.code).toBe('AttemptsExhausted')
  })
})
