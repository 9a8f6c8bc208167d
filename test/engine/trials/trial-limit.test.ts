import { describe, expect, it } from 'vitest'
import { addTrialSpent, isTrialUsedUp } from '../../../lib/limits/trial-limit.ts'
import type { Version } from '../../../lib/core/agent.ts'
import { Unavailable } from '../../../lib/core/errors.ts'
import type { ReplaySource } from '../../../lib/core/trial.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { executionOf, runOptions } from '../../support/engine/executions.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'

const scripted = await startScriptedEngine()
/** A token costs a millicent: 1,000 tokens are a cent. */
const environment = {
  ...scripted.engine.environment,
  MODEL_PRICES: '{"openai-compatible/*": {"input": 10, "output": 10}}',
}
const engine = { ...scripted.engine, environment }
const usage = { inputTokens: 999, outputTokens: 1 }
const CENT = 0.01
const wrong = { calls: [finalAnswer({ wrong: true })], usage }

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
  const replay = {
    ...{ tools: { default: 'recorded' as const }, models, steps: 'recorded' as const },
    ...{ ignore: [], executionId: original.id, fromStep: 1, isTrial: true, defaultModel: null },
    maxTrialCostUsd,
  }
  const ids: string[] = []
  for (let line = 0; line < lines; line++) {
    const batch = { id: trialId, customId: original.id, line, lane: line }
    const execution = executionOf(version, { replay, batch, lease: null, options: runOptions(options) })
    await engine.executions.create({ execution })
    ids.push(execution.id)
  }
  const key = { organizationId: version.organizationId, id: trialId }
  const readAll = () =>
    Promise.all(ids.map((id) => engine.executions.getSummary({ organizationId: key.organizationId, id })))
  return { ids, key, readAll }
}

describe('maxTrialCostUsd', () => {
  it('is exceeded by at most one response of each run in progress', async () => {
    const { model, requests } = scripted.scriptModel(() => wrong)
    const version = await aModelAgent({ model })
    const runs = 8
    const max = 9 * CENT
    const trial = await aTrial(version, runs, max)
    await Promise.all(trial.ids.map((id) => processMessage(engine as Engine, id)))
    const ended = await trial.readAll()
    const spent = ended.reduce((sum, each) => sum + (each?.usage.costUsd ?? 0), 0)
    expect(spent).toBeGreaterThanOrEqual(max - 1e-9)
    expect(spent).toBeLessThanOrEqual(max + runs * CENT + 1e-9)
    expect(Math.round(spent / CENT)).toBe(requests.length)
    for (const each of ended)
      expect(each).toMatchObject({
        status: 'ERROR',
        error: { code: 'BudgetExceeded', maxTrialCostUsd: max },
      })
    expect(await isTrialUsedUp(engine.limits, trial.key, max)).toBe(true)
  })

  it('is that of one trial: another one of the same agent has its own', async () => {
    const { model } = scripted.scriptModel(() => ({ calls: [finalAnswer({ answer: 'a' })], usage }))
    const version = await aModelAgent({ model })
    const [first, second] = [await aTrial(version, 1, CENT), await aTrial(version, 1, CENT)]
    await addTrialSpent(engine.limits, first.key, CENT)
    for (const { ids } of [first, second]) await processMessage(engine as Engine, ids[0] as string)
    expect((await first.readAll())[0]?.error).toMatchObject({ code: 'BudgetExceeded' })
    expect((await second.readAll())[0]?.status).toBe('SUCCESS')
  })

  it('of 0, where models are recorded and nobody gave one, ends a run before its first request', async () => {
    const { model, requests } = scripted.scriptModel(() => wrong)
    const version = await aModelAgent({ model })
    const trial = await aTrial(version, 1, 0, 'recorded')
    await processMessage(engine as Engine, trial.ids[0] as string)
    expect((await trial.readAll())[0]).toMatchObject({
      status: 'ERROR',
      error: { code: 'BudgetExceeded', message: expect.stringContaining('give it maxTrialCostUsd') },
    })
    expect(requests).toHaveLength(0)
  })

  it('ends a run before it calls a model that has no price', async () => {
    const { model, requests } = scripted.scriptModel(() => wrong)
    const version = await aModelAgent({ model })
    const trial = await aTrial(version, 1, CENT, 'recorded')
    const unpriced = { ...engine, environment: { ...environment, MODEL_PRICES: '' } }
    await processMessage(unpriced as Engine, trial.ids[0] as string)
    expect((await trial.readAll())[0]).toMatchObject({
      status: 'ERROR',
      error: { code: 'BudgetExceeded', message: expect.stringContaining('has no price') },
    })
    expect(requests).toHaveLength(0)
  })

  it('is named by a run whose request would cost more than all of it', async () => {
    const { model, requests } = scripted.scriptModel(() => wrong)
    const version = await aModelAgent({ model })
    const max = 0.000_001
    const { ids, readAll } = await aTrial(version, 1, max, 'live', { maxCostUsd: max })
    await processMessage(engine as Engine, ids[0] as string)
    expect((await readAll())[0]?.error).toMatchObject({
      code: 'BudgetExceeded',
      message:
        'What the trial may cost is not enough for the next model request: 0.000001 US dollars (maxTrialCostUsd).',
      maxTrialCostUsd: max,
    })
    const own = await aTrial(version, 1, CENT, 'live', { maxCostUsd: max })
    await processMessage(engine as Engine, own.ids[0] as string)
    expect((await own.readAll())[0]?.error?.message).toContain('(maxCostUsd)')
    expect(requests).toHaveLength(0)
  })

  it('calls no model while the limit cannot be read', async () => {
    const { model, requests } = scripted.scriptModel(() => wrong)
    const version = await aModelAgent({ model })
    const { ids, readAll } = await aTrial(version, 1, CENT)
    const fail = async () => {
      throw new Unavailable(new Error('throttled'))
    }
    const blind = { ...engine, limits: { ...engine.limits, getSpent: fail } } as unknown as Engine
    await processMessage(blind, ids[0] as string)
    expect((await readAll())[0]).toMatchObject({ status: 'IN_PROGRESS', steps: 0 })
    expect(requests).toHaveLength(0)
  })

  it('counts in the month in which the trial began, whenever it goes on', async () => {
    const key = { organizationId: system.newId(), id: '0199a000-0000-7000-8000-000000000000' }
    await addTrialSpent(engine.limits, key, CENT)
    expect(await isTrialUsedUp(engine.limits, key, CENT)).toBe(true)
  })
})
