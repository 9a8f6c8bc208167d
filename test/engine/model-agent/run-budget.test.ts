import { describe, expect, it } from 'vitest'
import type { RunOptions } from '../../../lib/core/execution.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import type { Script } from '../../support/scripted-model/turn.ts'

const { engine, queued, scriptModel } = await startScriptedEngine()

const answer = (inputTokens: number) => ({
  calls: [finalAnswer({ answer: 'Because.' })],
  usage: { inputTokens, outputTokens: 0 },
})
const wrongAnswer = (inputTokens: number) => ({
  calls: [finalAnswer({ wrong: true })],
  usage: { inputTokens, outputTokens: 0 },
})
const askHelpers = (number: number, inputTokens: number) => ({
  calls: Array.from({ length: number }, () => ({ name: 'ask', input: { question: 'Well?' } })),
  usage: { inputTokens, outputTokens: 0 },
})

type Scripts = { boss: Script; helper?: Script }

/** A run of `boss`, which can call `helper` with the tool `ask`. */
async function run({ boss, helper = [] }: Scripts, budget: Partial<RunOptions>, own: object = {}) {
  const organizationId = system.newId()
  const limits = { useCache: false, cacheTtlSeconds: null, maxAgentSteps: 100, timeoutSeconds: null, ...own }
  const { model } = scriptModel(helper)
  await aModelAgent({ organizationId, slug: 'helper', model, execution: limits })
  const version = await aModelAgent({
    organizationId,
    slug: 'boss',
    tools: [{ name: 'ask', agent: 'helper' }],
  })
  const { execution, modelRequests } = await queued(boss, version, { options: budget })
  await processMessage(engine, execution.id)
  const page = { organizationId, agentId: null, status: null, tenantId: null, limit: 10, after: null }
  const { items } = await engine.executions.list(page)
  const ended = items.find(({ id }) => id === execution.id)
  const children = items.filter(({ id }) => id !== execution.id)
  return { ended, children, modelRequests }
}

describe('a budget', () => {
  it('ends the run before the next model request, with what was spent', async () => {
    const { ended, modelRequests } = await run({ boss: () => wrongAnswer(60) }, { maxTokens: 100 })
    expect(ended).toMatchObject({
      status: 'ERROR',
      steps: 2,
      usage: { inputTokens: 120 },
      error: {
        code: 'BudgetExceeded',
        message:
          'The run has no budget left for another model response: it spent 120 of 100 tokens (maxTokens).',
        spent: { tokens: 120, costUsd: null },
        step: 2,
      },
    })
    expect(modelRequests()).toBe(2)
  })

  it('does not take away a result that is already there', async () => {
    const { ended } = await run({ boss: [answer(500)] }, { maxTokens: 100 })
    expect(ended).toMatchObject({ status: 'SUCCESS', usage: { inputTokens: 500 } })
  })

  it('includes what called agents spend, although they fail', async () => {
    const scripts = { boss: () => askHelpers(1, 10), helper: () => wrongAnswer(30) }
    const { ended, children } = await run(scripts, { maxTokens: 100 })
    expect(children).toMatchObject([{ error: { code: 'OutputSchemaMismatch' }, usage: { inputTokens: 90 } }])
    expect(ended).toMatchObject({ usage: { inputTokens: 10 }, error: { spent: { tokens: 100 } } })
  })

  it('gives an agent what is left, and its own limit if that is smaller', async () => {
    const scripts = { boss: [askHelpers(1, 30), answer(1)], helper: [answer(20)] }
    const { children } = await run(scripts, { maxTokens: 100 })
    expect(children.map(({ options }) => options.maxTokens)).toEqual([70])
    const limited = await run(scripts, { maxTokens: 100 }, { maxTokens: 25 })
    expect(limited.children.map(({ options }) => options.maxTokens)).toEqual([25])
  })

  it('is divided among agents that run at the same time; the run goes on with what they leave', async () => {
    const scripts = { boss: [askHelpers(3, 10), answer(1)], helper: () => wrongAnswer(25) }
    const { ended, children, modelRequests } = await run(scripts, { maxTokens: 100 })
    expect(children.map(({ options }) => options.maxTokens)).toEqual([30, 30, 30])
    expect(children.map(({ usage }) => usage.inputTokens)).toEqual([50, 50, 50])
    expect(ended).toMatchObject({ error: { code: 'BudgetExceeded', spent: { tokens: 160 } } })
    expect(modelRequests()).toBe(1)
  })

  it('ends a run in dollars whose model has no price before its first request', async () => {
    const { ended, modelRequests } = await run({ boss: [] }, { maxCostUsd: 1 })
    expect(ended?.error).toMatchObject({
      code: 'ModelNotConfigured',
      message: expect.stringContaining('has no price'),
    })
    expect(modelRequests()).toBe(0)
  })
})
