import { describe, expect, it } from 'vitest'
import { toExecutionRecord } from '../../../lib/contract/records/execution.ts'
import type { Version } from '../../../lib/core/agent.ts'
import type { Usage } from '../../../lib/core/model-usage.ts'
import type { RunOptions } from '../../../lib/core/run-options.ts'
import type { RecordedStep } from '../../../lib/core/step.ts'
import { RunBudget } from '../../../lib/engine/model-agent/run-budget.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { modelStep, NO_PROGRESS, runOptions, toolCall } from '../../support/engine/executions.ts'
import { aModelAgent, finalAnswer } from '../../support/engine/model-agent.ts'
import { lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import type { Script, ScriptedCall } from '../../support/scripted-model/turn.ts'

const { aToolAgent, engine, queued, runScript, scriptModel } = await startScriptedEngine()

type Tokens = Pick<Usage, 'inputTokens' | 'outputTokens'>
const tokensOf = (usage: Tokens | null | undefined) => (usage ? usage.inputTokens + usage.outputTokens : 0)

/** A response with calls has output tokens. */
const usageOf = (tokens: number) => ({ inputTokens: tokens - 1, outputTokens: 1 })

const says = (tokens: number, ...calls: ScriptedCall[]) => ({ calls, usage: usageOf(tokens) })
const answer = (tokens: number) => says(tokens, finalAnswer({ answer: 'Because.' }))
const wrongAnswer = (tokens: number) => says(tokens, finalAnswer({ wrong: true }))
const askHelpers = (number: number, tokens: number) =>
  says(tokens, ...Array(number).fill({ name: 'ask', input: { question: 'Well?' } }))

type Scripts = { boss: Script; helper?: Script }

/** A run of `boss`, which can call `helper` with the tool `ask`. */
async function run({ boss, helper = [] }: Scripts, budget: Partial<RunOptions>, own: object = {}) {
  const organizationId = system.newId()
  const limits = { useCache: false, cacheTtlSeconds: null, maxAgentSteps: 100, timeoutSeconds: null, ...own }
  const { model } = scriptModel(helper)
  await aModelAgent({ organizationId, slug: 'helper', model, execution: limits })
  const tools = [{ name: 'ask', agent: 'helper' }]
  const version = await aModelAgent({ organizationId, slug: 'boss', tools })
  const { execution, modelRequests } = await queued(boss, version, { options: budget })
  await processMessage(engine, execution.id)
  const page = { organizationId, agentId: null, status: null, tenantId: null, limit: 50, after: null }
  const { items } = await engine.executions.list(page)
  const ended = items.find(({ id }) => id === execution.id)
  const children = items.filter(({ id }) => id !== execution.id)
  return { ended, children, modelRequests }
}

describe('a budget', () => {
  it('ends the run before the next model request, with what was spent', async () => {
    const { ended, modelRequests } = await run({ boss: () => wrongAnswer(6_000) }, { maxTokens: 10_000 })
    expect(ended).toMatchObject({
      status: 'ERROR',
      steps: 2,
      usage: { inputTokens: 11_998, outputTokens: 2 },
      error: {
        code: 'BudgetExceeded',
        message:
          'The run has no budget left for another model response: it spent 12,000 of 10,000 tokens (maxTokens).',
        spent: { tokens: 12_000, costUsd: null },
        step: 2,
      },
    })
    expect(modelRequests()).toBe(2)
  })

  it('does not take away a result that is already there', async () => {
    const { ended } = await run({ boss: [answer(50_000)] }, { maxTokens: 10_000 })
    expect(ended).toMatchObject({ status: 'SUCCESS', usage: { inputTokens: 49_999, outputTokens: 1 } })
  })

  it('includes what called agents spend, although they fail', async () => {
    const scripts = { boss: () => askHelpers(1, 1_000), helper: () => wrongAnswer(3_000) }
    const { ended, children } = await run(scripts, { maxTokens: 10_000 })
    expect(children).toMatchObject([
      { error: { code: 'OutputSchemaMismatch' }, usage: { inputTokens: 8_997, outputTokens: 3 } },
    ])
    expect(ended).toMatchObject({
      usage: { inputTokens: 999, outputTokens: 1 },
      error: { spent: { tokens: 10_000 } },
    })
  })

  it('gives an agent what is left, and its own limit if that is smaller', async () => {
    const scripts = { boss: [askHelpers(1, 3_000), answer(100)], helper: [answer(2_000)] }
    const { children } = await run(scripts, { maxTokens: 10_000 })
    expect(children.map(({ options }) => options.maxTokens)).toEqual([7_000])
    const limited = await run(scripts, { maxTokens: 10_000 }, { maxTokens: 2_500 })
    expect(limited.children.map(({ options }) => options.maxTokens)).toEqual([2_500])
  })

  it('ends a run in dollars whose model has no price before its first request', async () => {
    const { ended, modelRequests } = await run({ boss: [] }, { maxCostUsd: 1 })
    const message = expect.stringContaining('has no price')
    expect(ended?.error).toMatchObject({ code: 'ModelNotConfigured', message })
    expect(modelRequests()).toBe(0)
  })

  it.each(SCRIPTED_PROVIDERS)('holds if the server reports no usage (%s)', async (provider) => {
    const input = { question: 'Why is the sky blue? '.repeat(150) }
    const script: Script = () => ({ ...lookup, usage: { inputTokens: 0, outputTokens: 0 } })
    const given = { input, provider, options: { maxTokens: 2_500 } }
    const { execution, stored, modelRequests } = await queued(script, await aToolAgent(), given)
    await processMessage(engine, execution.id)
    expect(await stored()).toMatchObject({ error: { code: 'BudgetExceeded' }, usage: { estimated: true } })
    expect(modelRequests()).toBeGreaterThan(0)
    expect(modelRequests()).toBeLessThanOrEqual(3)
  })

  it('refuses a request whose estimated input does not fit what is left', async () => {
    const { ended, modelRequests } = await run({ boss: [] }, { maxTokens: 100 })
    const about = /its next model request of about \d{3} input tokens: it spent 0 of 100/
    const message = expect.stringMatching(about)
    expect(ended?.error).toMatchObject({ code: 'BudgetExceeded', step: 0, spent: { tokens: 0 }, message })
    expect(modelRequests()).toBe(0)
  })

  it('is divided among 20 agents whose responses are as long as they may be', async () => {
    const helper = { inputTokens: 100, outputTokens: 5_000 }
    const greedy: Script = (request) => ({
      ...wrongAnswer(0),
      usage: { ...helper, outputTokens: Math.min(helper.outputTokens, request.maxOutputTokens ?? 5_000) },
    })
    const boss: Script = (_, index) => (index === 0 ? askHelpers(20, 100) : answer(100))
    const { ended, children } = await run({ boss, helper: greedy }, { maxTokens: 20_000 })
    expect(children).toHaveLength(20)
    const tokens = [...children, ended].map((each) => tokensOf(each?.usage))
    const total = tokens.reduce((sum, count) => sum + count, 0)
    expect(total).toBeGreaterThan(10_000)
    expect(total).toBeLessThanOrEqual(20_000)
    expect(tokensOf(ended?.usage)).toBeLessThan(1_000)
    expect(tokensOf(ended?.usage) + tokensOf(ended?.childUsage)).toBe(total)
    expect(ended && toExecutionRecord(ended)).toMatchObject({ totalCostUsd: null })
    expect(ended && tokensOf(toExecutionRecord(ended).totalUsage)).toBe(total)
  })
})

describe('RunBudget.share', () => {
  const tools = [{ name: 'ask', agent: 'helper' }, { name: 'look_up' }] as unknown as Version['tools']
  const costly = (tokens: number) => ({ inputTokens: tokens, outputTokens: 0, costUsd: tokens / 10_000 })

  /** A step that calls the agent this often, and a tool. `used`: the tokens of the first calls, which have results. */
  function aStep(number: number, agents: number, used: number[]): RecordedStep {
    const calls = [...Array(agents).keys()].map((n) => toolCall(`${number}-${n}`, 'ask'))
    const invalid = { ...toolCall('invalid', 'ask'), error: 'not JSON' }
    const results = used.map((tokens, n) => {
      const result = { ok: true as const, value: 'Well.', usage: costly(tokens) }
      return [`${number}-${n}`, { callId: `${number}-${n}`, result, startedAt: '', finishedAt: '' }] as const
    })
    const step = modelStep({ number, calls: [toolCall('tool'), ...calls, invalid] })
    return { step, results: new Map(results) }
  }

  /** The share of an agent that the last step calls, in a run that has used 1,000 tokens itself. */
  const shareAfter = (...recorded: RecordedStep[]) =>
    RunBudget.of({
      execution: { options: runOptions({ maxTokens: 10_000, maxCostUsd: 1 }), replay: null },
      version: { tools },
      journal: { recorded, usage: costly(1_000), progress: NO_PROGRESS },
    })?.share()

  it.each<[string, number[]]>([
    ['before any has a result', []],
    ['when one has a result', [2_500]],
    ['when all but one have results', [2_500, 10, 4_000]],
  ])('is the same for all agents of a response, %s', (_, used) => {
    const before = aStep(1, 2, [1_000, 2_000])
    expect(shareAfter(aStep(1, 4, used))).toEqual({ maxTokens: 2_250, maxCostUsd: 0.225 })
    expect(shareAfter(before, aStep(2, 4, used))).toEqual({ maxTokens: 1_500, maxCostUsd: 0.15 })
  })
})

describe.each(SCRIPTED_PROVIDERS)('the output limit of a request to %s', (provider) => {
  const prices = { MODEL_PRICES: `{"${provider}/*": {"input": 100, "output": 100}}` }
  const on = { ...engine, environment: { ...engine.environment, ...prices } }
  const sent = async (budget: Partial<RunOptions>) => {
    const version = await aModelAgent({ modelSettings: { maxOutputTokens: 9_000 } })
    const { requests } = await runScript([answer(100)], { on, version, provider, ...budget })
    return requests[0]?.maxOutputTokens
  }

  it('is lowered to what the budget has left after the input', async () => {
    expect(await sent({})).toBe(9_000)
    expect(await sent({ maxTokens: 100_000 })).toBe(9_000)
    const lowered = await sent({ maxTokens: 3_000 })
    expect(lowered).toBeGreaterThan(2_000)
    expect(lowered).toBeLessThan(2_950)
    expect(await sent({ maxCostUsd: 0.3 })).toBe(lowered)
  })
})
