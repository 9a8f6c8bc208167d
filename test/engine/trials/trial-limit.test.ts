import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { UNLIMITED } from '../../../lib/core/access.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { InputSchemaMismatch } from '../../../lib/core/request-errors.ts'
import { ExecutionInProgress } from '../../../lib/core/resource-errors.ts'
import type { ReplaySource } from '../../../lib/core/trial.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { type RerunOptions, rerunExecution } from '../../../lib/engine/trials/rerun.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { admission } from '../../../lib/limits/admission.ts'
import { addTrialSpent, isTrialUsedUp } from '../../../lib/limits/trial-limit.ts'
import { system } from '../../../lib/system.ts'
import { executionOf, runOptions } from '../../support/engine/executions.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { answer, lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { replayOf, withPrices } from '../../support/replay/a-replay.ts'

const scripted = await startScriptedEngine()

const usage = { inputTokens: 999, outputTokens: 1 }

const CENT = 0.01

const wrong = { calls: [finalAnswer({ wrong: true })], usage }

describe('maxTrialCostUsd', () => {
  const engine = withPrices(scripted.engine)
  const { environment } = engine
  /** Executions of a trial with this limit: lines of the same batch, with models that are live. */
  async function aTrial(
    version: Version,
    lines: number,
    maxTrialCostUsd: number,
    models: ReplaySource = 'live',
    options: { maxCostUsd?: number } = {},
  ) {
    const original = executionOf(version)
    await engine.executions.create({ execution: original })
    const trialId = system.newId()
    const replay = replayOf(original, { models, maxTrialCostUsd })
    const ids: string[] = []
    for (let line = 0; line < lines; line++) {
      const batch = { id: trialId, customId: original.id, line, lane: line }
      const execution = executionOf(version, { replay, batch, lease: null, options: runOptions(options) })
      await engine.executions.create({ execution })
      ids.push(execution.id)
    }
    const { organizationId } = version
    const key = { organizationId, id: trialId }
    const readAll = () => Promise.all(ids.map((id) => engine.executions.getSummary({ organizationId, id })))
    /** Processes the first line, or all. Returns what became of it. */
    const process = async (on: object = engine, all = ids.slice(0, 1)) => {
      await Promise.all(all.map((id) => processMessage(on as Engine, id)))
      return (await readAll())[0]
    }
    return { ids, key, readAll, process }
  }

  /** A version whose model gives wrong answers. */
  async function aWrongVersion() {
    const { model, requests } = scripted.scriptModel(() => wrong)
    return { version: await aModelAgent({ model }), requests }
  }

  it('is exceeded by at most one response of each run in progress', async () => {
    const runs = 8
    const allInProgress = Promise.withResolvers<void>()
    const { model, requests } = scripted.scriptModel((_, index) => {
      if (index === runs - 1) allInProgress.resolve()
      return { ...wrong, until: allInProgress.promise }
    })
    const version = await aModelAgent({ model })
    const max = 9 * CENT
    const trial = await aTrial(version, runs, max)
    await trial.process(engine, trial.ids)
    const ended = await trial.readAll()
    const spent = ended.reduce((sum, each) => sum + (each?.usage.costUsd ?? 0), 0)
    expect(spent).toBeGreaterThanOrEqual(max - 1e-9)
    expect(spent).toBeLessThanOrEqual(max + runs * CENT + 1e-9)
    expect(Math.round(spent / CENT)).toBe(requests.length)
    const error = { code: 'BudgetExceeded', maxTrialCostUsd: max }
    expect(ended).toMatchObject(Array(runs).fill({ status: 'ERROR', error }))
    expect(await isTrialUsedUp(engine.limits, trial.key, max)).toBe(true)
  })

  it('is that of one trial: another one of the same agent has its own', async () => {
    const { model } = scripted.scriptModel(() => ({ calls: [finalAnswer({ answer: 'a' })], usage }))
    const version = await aModelAgent({ model })
    const [first, second] = [await aTrial(version, 1, CENT), await aTrial(version, 1, CENT)]
    await addTrialSpent(engine.limits, first.key, CENT)
    expect((await first.process())?.error).toMatchObject({ code: 'BudgetExceeded' })
    expect((await second.process())?.status).toBe('SUCCESS')
  })

  it.each([
    ['of 0, where models are recorded and nobody gave one,', 0, environment, 'give it maxTrialCostUsd'],
    ['of a model that has no price', CENT, { ...environment, MODEL_PRICES: '' }, 'has no price'],
  ])('%s ends a run before its first request', async (_, max, environment, message) => {
    const { version, requests } = await aWrongVersion()
    const trial = await aTrial(version, 1, max, 'recorded')
    expect(await trial.process({ ...engine, environment })).toMatchObject({
      status: 'ERROR',
      error: { code: 'BudgetExceeded', message: expect.stringContaining(message) },
    })
    expect(requests).toHaveLength(0)
  })

  it('is named by a run whose request would cost more than all of it', async () => {
    const { version, requests } = await aWrongVersion()
    const max = 0.000_001
    const { process } = await aTrial(version, 1, max, 'live', { maxCostUsd: max })
    expect((await process())?.error).toMatchObject({
      code: 'BudgetExceeded',
      message:
        'What the trial may cost is not enough for the next model request: 0.000001 US dollars (maxTrialCostUsd).',
      maxTrialCostUsd: max,
    })
    const own = await aTrial(version, 1, CENT, 'live', { maxCostUsd: max })
    expect((await own.process())?.error?.message).toContain('(maxCostUsd)')
    expect(requests).toHaveLength(0)
  })

  it('calls no model while the limit cannot be read', async () => {
    const { version, requests } = await aWrongVersion()
    const { process } = await aTrial(version, 1, CENT)
    const getSpent = () => Promise.reject(new Unavailable(new Error('throttled')))
    expect(await process({ ...engine, limits: { ...engine.limits, getSpent } })).toMatchObject({
      status: 'IN_PROGRESS',
      steps: 0,
    })
    expect(requests).toHaveLength(0)
  })

  it('counts in the month in which the trial began, whenever it goes on', async () => {
    const key = { organizationId: system.newId(), id: '0199a000-0000-7000-8000-000000000000' }
    await addTrialSpent(engine.limits, key, CENT)
    expect(await isTrialUsedUp(engine.limits, key, CENT)).toBe(true)
  })
})

describe('rerunExecution', () => {
  const { engine, server, aToolAgent } = scripted

  const submit = { ...engine, admit: admission(engine, 1_000), syncDeadlineMs: 10_000 }

  // Overrides are checked with the environment of the process.
  beforeAll(() => {
    for (const [name, value] of Object.entries(engine.environment)) vi.stubEnv(name, value)
  })

  afterAll(() => void vi.unstubAllEnvs())

  const start = (version: Version, { id }: Pick<Execution, 'id'>, options: RerunOptions = {}) =>
    rerunExecution(submit, {
      access: { ...UNLIMITED, organizationId: version.organizationId, tokenId: '' },
      executionId: id,
      options,
      idempotencyKey: undefined,
    })

  /** The end of a rerun. */
  async function rerun(version: Version, original: Pick<Execution, 'id'>, options: RerunOptions = {}) {
    const execution = await start(version, original, options)
    await processMessage(engine, execution.id)
    return (await engine.executions.get(execution)) as Execution
  }

  it('asks the model and calls the tools again by default', async () => {
    const { version, original, requests } = await aRun()
    const calls = server.calls.length
    const again = await rerun(version, original)
    expect(again).toMatchObject({
      status: 'SUCCESS',
      source: 'API',
      replay: { executionId: original.id, isTrial: false },
      judgement: null,
      options: { model: original.options.model },
    })
    expect([requests.length, server.calls.length - calls]).toEqual([4, 1])
  })

  it('takes from the original what is recorded, and the rest is live', async () => {
    const { version, original, requests } = await aRun()
    const calls = server.calls.length
    const recorded: RerunOptions = { models: 'recorded', tools: { default: 'recorded' } }
    expect(await rerun(version, original, recorded)).toMatchObject({
      source: 'TRIAL',
      judgement: { verdict: 'SAME' },
      steps: 2,
    })
    expect(requests).toHaveLength(2)
    expect(await rerun(version, original, { tools: { default: 'recorded' } })).toMatchObject({
      judgement: { verdict: 'SAME' },
    })
    expect(requests).toHaveLength(4)
    expect(server.calls.length).toBe(calls)
    // The script of the model begins again: it calls the tool, then answers.
    expect(await rerun(version, original, { fromStep: 2 })).toMatchObject({ source: 'TRIAL', steps: 3 })
    expect([requests.length - 4, server.calls.length - calls]).toEqual([2, 1])
  })

  it('is refused from a step on that the original does not reach, and for tools that it does not have', async () => {
    const { version, original } = await aRun()
    await expect(start(version, original, { fromStep: 4 })).rejects.toThrow('/fromStep must be from 1 to 3')
    expect(await start(version, original, { fromStep: 3 })).toMatchObject({ status: 'IN_PROGRESS' })
    for (const source of ['recorded', 'live'] as const)
      await expect(start(version, original, { tools: { nothing: source } })).rejects.toThrow(
        InputSchemaMismatch,
      )
  })

  it('needs a final original for what is recorded', async () => {
    const version = await aToolAgent()
    const { execution } = await scripted.queued(() => answer, version)
    await expect(start(version, execution, { models: 'recorded' })).rejects.toThrow(ExecutionInProgress)
    expect(await start(version, execution)).toMatchObject({ status: 'IN_PROGRESS' })
  })

  it('ends if the original is deleted before it begins', async () => {
    const { version, original } = await aRun()
    const execution = await start(version, original, { models: 'recorded' })
    await engine.executions.delete({ ...original, now: Date.now() })
    await processMessage(engine, execution.id)
    expect(await engine.executions.get(execution)).toMatchObject({
      status: 'ERROR',
      error: { code: 'ExecutionNotFound' },
      judgement: null,
    })
  })
})

/** A run whose model calls a tool and answers, of a model that can do so again. */
async function aRun() {
  const version = await scripted.aToolAgent()
  const script = (_: unknown, index: number) => (index % 2 === 0 ? lookup : answer)
  const { execution, requests } = await scripted.runScript(script, { version })
  expect(execution.status).toBe('SUCCESS')
  return { version, original: execution, requests }
}
