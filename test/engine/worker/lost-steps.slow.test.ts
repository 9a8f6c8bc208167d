import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import { isFinal } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import { MAX_ATTEMPTS } from '../../../lib/core/limits.ts'
import type { ExecutionStore } from '../../../lib/core/ports/executions.ts'
import type { RunOptions } from '../../../lib/core/run-options.ts'
import type { StepStore } from '../../../lib/core/step.ts'
import { NEVER } from '../../../lib/engine/checkpoints/deadline.ts'
import { endExecution } from '../../../lib/engine/end-execution.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { sweep } from '../../../lib/engine/maintenance.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { aMessage, answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import type { Script } from '../../support/scripted-model/turn.ts'

const { engine: shared, aToolAgent, scripted, queued: queuedRun, deadLetter } = await startScriptedEngine()

/** A final write is retried for as long as a lease lasts. */
const TIMES = { ...leaseTimes(1_000), retryDelayMs: 1 }
const DEADLINE_MS = 1_200_000
const MODEL_PRICES = '{"openai-compatible/*": {"input": 10, "output": 10}}'
const TOKENS = 2_000
const usage = { inputTokens: TOKENS, outputTokens: 1 }
const wrongAnswer = { calls: [finalAnswer({ wrong: true })], usage }

/** A queued run, and a function that delivers its messages until it ends, as the queue and the sweeper would. */
async function queued(script: Script, options: Partial<RunOptions> = {}, version = aModelAgent()) {
  const run = await queuedRun(script, await version, { options, deadlineMs: DEADLINE_MS })
  const { execution, stored, modelRequests } = run
  const deliver = async (engine: Engine) => {
    let laterMs = 0
    const delays: number[] = []
    const clock = { ...system, now: () => Date.now() + laterMs }
    for (let receiveCount = 1; laterMs < DEADLINE_MS; receiveCount++) {
      const { message, sent } = aMessage(receiveCount)
      const later = { ...engine, system: clock }
      const result = await processMessage(later, execution.id, { message })
      if (isFinal(await stored())) return delays
      const delayMs = typeof result === 'string' ? (sent[0]?.delayMs ?? TIMES.graceMs) : result.retryInMs
      delays.push(delayMs)
      laterMs += delayMs + 1
    }
    await sweepAlone(shared, clock.now)
    return delays
  }
  const sweepAlone = async ({ executions, steps }: Engine, now: () => number) => {
    const { id, organizationId, tenantId, createdAt, deadlineAt, openUntil } = await stored()
    const stale = [{ id, organizationId, tenantId, createdAt, deadlineAt, openUntil: openUntil ?? 0 }]
    const listed = { ...executions, listStale: async () => stale.splice(0) }
    const { queue } = aMessage()
    await sweep({ executions: listed, steps, queue, system: { ...system, now }, times: TIMES })
  }
  return { execution, stored, deliver, sweep: sweepAlone, requests: modelRequests }
}

type Write = keyof Pick<ExecutionStore, 'claim' | 'renew' | 'release' | 'finish'> | keyof StepStore
type Schedule = (call: number) => boolean

/** An engine whose nth call of one of these operations fails if the schedule says so: before or after the write. */
function failing(operations: Write[], fails: Schedule, isWritten = false): Engine {
  let calls = 0
  const wrap = <Store extends object>(store: Store): Store =>
    Object.fromEntries(
      Object.entries(store).map(([name, operation]) => {
        if (!operations.includes(name as Write)) return [name, operation]
        const wrapped = async (params: unknown) => {
          if (!fails(calls++)) return operation(params)
          if (isWritten) await operation(params)
          throw new Unavailable(Object.assign(new Error('Slow down.'), { name: 'ThrottlingException' }))
        }
        return [name, wrapped]
      }),
    ) as Store
  const { executions, steps } = shared
  const environment = { ...scripted.environmentFor(), MODEL_PRICES }
  return { ...shared, environment, times: TIMES, executions: wrap(executions), steps: wrap(steps) }
}

const always: Schedule = () => true
const everySecond: Schedule = (call) => call % 2 === 0

describe('a run whose steps are not stored', () => {
  it('ends after MAX_ATTEMPTS lost responses, with the reason and what they used', async () => {
    const { stored, deliver, requests } = await queued(() => wrongAnswer)
    const delays = await deliver(failing(['append'], always))
    expect(requests()).toBe(MAX_ATTEMPTS)
    expect(await stored()).toMatchObject({
      status: 'ERROR',
      steps: 0,
      usage: { inputTokens: MAX_ATTEMPTS * TOKENS },
      error: { code: 'StepNotStored', step: 1, message: expect.stringContaining('ThrottlingException') },
    })
    for (const [index, delayMs] of delays.entries())
      if (index > 0) expect(delayMs).toBeGreaterThan(1.5 * (delays[index - 1] ?? 0))
  })

  it.each([{ maxTokens: 1.5 * TOKENS }, { maxCostUsd: 1.5 * TOKENS * 0.00001 }])(
    'counts them in its budget: %j',
    async (budget) => {
      const { stored, deliver, requests } = await queued(() => wrongAnswer, budget)
      await deliver(failing(['append'], always))
      expect(requests()).toBe(2)
      expect(await stored()).toMatchObject({
        error: { code: 'BudgetExceeded', spent: { tokens: 2 * (TOKENS + 1) } },
        usage: { inputTokens: 2 * TOKENS },
      })
    },
  )

  it('ends although it stores others in between', async () => {
    const { stored, deliver, requests } = await queued(() => lookup, {}, aToolAgent())
    await deliver(failing(['append'], everySecond))
    const { steps, error } = await stored()
    expect(error?.code).toBe('StepNotStored')
    expect(steps).toBe(MAX_ATTEMPTS - 1)
    expect(requests()).toBe(MAX_ATTEMPTS + steps)
  })

  it('does not count a step that is stored although no response arrives', async () => {
    const script: Script = (_, index) => (index < 2 * MAX_ATTEMPTS ? lookup : answer)
    const { stored, deliver, requests } = await queued(script, {}, aToolAgent())
    await deliver(failing(['append'], always, true))
    const steps = 2 * MAX_ATTEMPTS + 1
    const usage = { inputTokens: 10 * steps }
    expect(await stored()).toMatchObject({ status: 'SUCCESS', steps, lostSteps: [], usage })
    expect(requests()).toBe(steps)
  })

  const endings: [string, (run: Awaited<ReturnType<typeof queued>>) => Promise<unknown>][] = [
    ['cancelled', ({ execution }) => endExecution(shared, { ...execution, error: CANCELLED })],
    ['dead-lettered', ({ execution }) => deadLetter(execution, () => Date.now() + DEADLINE_MS)],
    ['swept', ({ sweep }) => sweep(shared, () => Date.now() + DEADLINE_MS)],
    [
      'claimed by workers that die',
      async ({ execution: { id } }) => {
        for (let n = 0; n < MAX_ATTEMPTS; n++) {
          const now = Date.now() - 1_000 + n * 10
          await shared.executions.claim({ id, lease: { owner: `${n}`, expiresAt: now + 1 }, now })
        }
        await processMessage(shared, id, aMessage())
      },
    ],
  ]
  it.each(endings)(
    'does not count such a step either when the run is %s before it resumes',
    async (_, end) => {
      const run = await queued(() => wrongAnswer)
      const engine = failing(['append'], always, true)
      await processMessage(engine, run.execution.id, aMessage())
      expect(await run.stored()).toMatchObject({ status: 'IN_PROGRESS', lostSteps: [{ number: 1 }] })
      await end(run)
      const ended = { status: 'ERROR', steps: 1, lostSteps: [], usage: { inputTokens: TOKENS } }
      expect(await run.stored()).toMatchObject(ended)
    },
  )

  it('ends if not even the releases are stored', async () => {
    const { stored, deliver, requests } = await queued(() => wrongAnswer)
    await deliver(failing(['append', 'release'], always))
    expect(requests()).toBe(MAX_ATTEMPTS)
    expect(await stored()).toMatchObject({ status: 'ERROR', error: { code: 'AttemptsExhausted' } })
  })

  it('counts the step that is being stored when its worker has to stop', async () => {
    const { execution, stored } = await queued(() => wrongAnswer)
    const abort = new AbortController()
    const append = () => {
      abort.abort()
      return new Promise<never>(() => undefined)
    }
    const engine = { ...failing([], always), steps: { ...shared.steps, append } }
    const deadline = { drain: NEVER, stop: abort.signal }
    await processMessage(engine, execution.id, { ...aMessage(), deadline })
    const lost = { usage: { inputTokens: TOKENS }, lostSteps: [{ number: 1, attempt: 1 }] }
    expect(await stored()).toMatchObject({ status: 'IN_PROGRESS', lease: null, ...lost })
  })

  it('of code ends, too', async () => {
    const code = `export default async (_, { step }) => ({ answer: await step('paid', () => 'x') })`
    const version = await aModelAgent({ code: true }, { code })
    const { stored, deliver } = await queued([], {}, Promise.resolve(version))
    await deliver(failing(['append'], always))
    expect(await stored()).toMatchObject({ attempts: MAX_ATTEMPTS, error: { code: 'StepNotStored' } })
  })
})

describe('an outage without a lost step', () => {
  it.each<Write>(['appendResult', 'read'])('of %s is retried until the deadline', async (operation) => {
    const version = aToolAgent()
    const { stored, deliver, requests } = await queued([lookup], {}, version)
    // A first attempt reads no journal.
    const deadline = { drain: AbortSignal.abort(), stop: NEVER }
    if (operation === 'read')
      await processMessage(failing([], always), (await stored()).id, { ...aMessage(), deadline })
    const delays = await deliver(failing([operation], always))
    expect(requests()).toBeLessThanOrEqual(1)
    expect(await stored()).toMatchObject({ status: 'ERROR', error: { code: 'DeadlineExceeded' } })
    expect(delays.length).toBeGreaterThanOrEqual(MAX_ATTEMPTS)
    expect(delays.at(-1)).toBeGreaterThan(20 * (delays[0] ?? 0))
  })
})

describe('any run with a budget', () => {
  const all: Write[] = ['append', 'appendResult', 'renew', 'release', 'claim', 'finish']
  const operations: Write[][] = [['append'], ['renew'], ['finish'], ['append', 'release'], all]
  const schedules = { always, 'every second time': everySecond, twice: (call: number) => call < 2 }
  const cases = operations.flatMap((names) =>
    Object.entries(schedules).map(([when, fails]) => ({ names, when, fails })),
  )

  it.concurrent.each(cases)(
    'ends within it when $names fails $when',
    async ({ names, fails }) => {
      const maxTokens = 3.5 * TOKENS
      const script: Script = (_, index) => (index % 2 === 0 ? { ...lookup, usage } : wrongAnswer)
      const { stored, deliver, requests } = await queued(script, { maxTokens }, aToolAgent())
      await deliver(failing(names, fails))
      const { status, error, steps, usage: recorded } = await stored()
      expect(status, JSON.stringify(error)).toBe('ERROR')
      expect(requests()).toBeLessThanOrEqual(MAX_ATTEMPTS + steps)
      expect(requests() * TOKENS).toBeLessThan(maxTokens + MAX_ATTEMPTS * TOKENS)
      const isKnown = !names.includes('release')
      if (isKnown) expect(recorded.inputTokens).toBe(requests() * TOKENS)
    },
    120_000,
  )
})
