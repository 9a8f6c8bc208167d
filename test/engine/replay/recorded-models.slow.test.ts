import { afterAll, describe, expect, it } from 'vitest'
import { toStepRecord } from '../../../lib/contract/records/step.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { addUsage } from '../../../lib/core/model-usage.ts'
import type { RecordedModelStep } from '../../../lib/core/step.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { PDF } from '../../support/data/files.ts'
import { runOptions } from '../../support/engine/executions.ts'
import { finalAnswer, httpTool, startToolServer } from '../../support/engine/model-agent.ts'
import { answer, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { answersIn, messageOf, pastExecutions } from '../../support/learning/corrections.ts'
import { contentOf, originalsOn, runReplay, withSteps } from '../../support/replay/a-replay.ts'
import type { Script } from '../../support/scripted-model/turn.ts'

const scriptedEngine = await startScriptedEngine()
const { engine, scriptModel } = scriptedEngine
let served = 0
const server = await startToolServer(
  (path, response) =>
    void response.end(
      JSON.stringify({ path, served: ++served, filling: 'x'.repeat(path.includes('long') ? 4_000 : 0) }),
    ),
)
afterAll(() => server.stop())

const TOOLS = [httpTool(server, 'look_up', '/things/{id}', { readOnly: true })]
const { anOriginal, aDraft } = originalsOn(scriptedEngine, { tools: TOOLS })
const look = (id: string) => ({ name: 'look_up', input: { id } })
const RECORDED = { models: 'recorded' as const }

/** The engine of a process that has no API key, and neither models nor tools. */
const offline: Engine = { ...engine, environment: { DEFAULT_MODEL: '' } }

/** The engine, where this execution has another journal. */
const withJournal = (original: Execution, steps: RecordedModelStep[]) =>
  withSteps(engine, original, async () => steps)

const usageIn = (steps: RecordedModelStep[]) => steps.map(({ step }) => step.usage).reduce(addUsage)
const DOWN = { status: 503, message: 'Overloaded.' }
const TOO_LONG = {
  ...{ status: 400, code: 'context_length_exceeded', message: 'maximum context length exceeded' },
}

/** Repeats an execution on its own version, in a process that cannot call anything. */
async function repeat(original: Execution, steps: RecordedModelStep[], on: Engine = offline, more = {}) {
  const version = await engine.agents.getVersion({ ...original, id: original.versionId })
  if (!version) throw new Error('The version does not exist.')
  const calls = server.calls.length
  const replayed = await runReplay(on, original, version, { settings: { ...RECORDED, ...more } })
  expect(server.calls).toHaveLength(calls)
  expect(contentOf(replayed.steps)).toEqual(contentOf(steps))
  for (const recorded of replayed.steps)
    expect(toStepRecord(recorded)).toMatchObject({ replayed: true, costUsd: 0 })
  const { status, output, error, warnings, model } = original
  expect(replayed.execution).toMatchObject({ status, output, error, warnings, model, steps: steps.length })
  return replayed
}

describe('a replay with recorded models on the same version', () => {
  const wrong = { calls: [finalAnswer({ answer: 5 })] }
  const scripts: [string, Script, object?][] = [
    ['calls', [{ calls: [look('a'), look('a')] }, { text: 'Hm.', calls: [look('b')] }, answer]],
    ['repairs', [wrong, { text: 'Because.' }, answer]],
    ['repairs that fail', [wrong, wrong, wrong]],
    ['truncated responses', [{ text: 'Be', finish: 'length' }, { calls: [look('a')] }, answer]],
    ['a refusal', [{ calls: [look('a')] }, { refusal: 'No.' }]],
    ['calls that cannot be parsed', [{ calls: [{ name: 'look_up', raw: '{' }] }, answer]],
    ['the last step allowed', [{ calls: [look('a')] }, { calls: [look('b')] }, answer], { maxAgentSteps: 3 }],
    ['too many steps', () => ({ calls: [look('a')] }), { maxAgentSteps: 3 }],
    [
      'cleared results',
      [...Array.from({ length: 8 }, (_, i) => ({ calls: [look(`long-${i}`)] })), answer],
      { context: { window: 6_000, keep: 1 } },
    ],
  ]
  it.each(scripts)('repeats a run with %s, without a request', async (_, script, more = {}) => {
    const { maxAgentSteps = 100, ...fields } = more as { maxAgentSteps?: number }
    const given = { options: runOptions({ maxAgentSteps }) }
    const { original, steps } = await anOriginal(script, fields, given)
    const { execution, steps: replayed } = await repeat(original, steps)
    expect(execution).toMatchObject({
      usage: { inputTokens: 0, outputTokens: 0 },
      replayedUsage: usageIn(steps),
      childUsage: null,
      lostUsage: null,
    })
    for (const [i, { step }] of replayed.entries()) {
      expect(step).toMatchObject({ replayed: { usage: steps[i]?.step.usage }, usage: { outputTokens: 0 } })
      expect(step.request).toEqual(steps[i]?.step.request)
      expect(step.clearedResults).toBe(steps[i]?.step.clearedResults)
    }
  })

  it('repeats a run that another model has continued, with its models', async () => {
    const first = scriptModel([{ calls: [look('a')] }, DOWN, DOWN, DOWN, DOWN], 'anthropic')
    const second = scriptModel([{ calls: [look('b')] }, answer], 'openai')
    const { original, steps } = await anOriginal([], { model: first.model, fallbacks: [second.model] })
    expect(steps.map(({ step }) => step.model)).toEqual([first.model, second.model, second.model])
    await repeat(original, steps)
  })

  it('repeats a run whose provider found a request too long', async () => {
    const script = [1, 2, 3].map((n) => ({ calls: [look(`long-${n}`)] }))
    const { original, steps } = await anOriginal([...script, TOO_LONG, answer], { context: { keep: 1 } })
    expect(steps.at(-1)?.step.clearedResults).toBe(2)
    await repeat(original, steps)
  })

  it.each([
    ['anthropic', 'claude-sonnet-4-5'],
    ['openai', 'gpt-5'],
  ] as const)('repeats searches of the web by %s', async (provider, family) => {
    const searches = [{ query: 'AWS regions', urls: ['https://a.example/1'] }]
    const script = [{ text: 'Hm.' }, answer].map((each) => ({ searches, ...each }))
    const { model } = scriptModel(script, provider, { family })
    const tools = [{ name: 'web_search', webSearch: {} }]
    const { original, steps } = await anOriginal([], { model, tools, requireTools: true })
    expect(original).toMatchObject({ status: 'SUCCESS', warnings: [] })
    const { execution } = await repeat(original, steps)
    expect(execution.replayedUsage?.webSearches).toBe(2)
  })

  it('repeats a run with a file', async () => {
    const inputSchema = { question: { type: 'string' }, document: { type: 'file' } } as unknown as JsonObject
    const { model } = scriptModel([{ calls: [look('a')] }, answer], 'openai', { family: 'gpt-5' })
    const input = { question: 'Why?', document: PDF }
    const { original, steps } = await anOriginal([], { model, inputSchema }, { input })
    expect(original.status).toBe('SUCCESS')
    await repeat(original, steps)
  })

  it('repeats a run with examples, which are those of the original', async () => {
    const { past } = pastExecutions(engine.executions)
    const { model, requests } = scriptModel([answer])
    const { version } = await originalsOn(scriptedEngine).anAgent([], { model })
    const corrected = { feedback: { correctedOutput: { answer: 'First.' } } }
    await past(version, { question: 'Why?', ...corrected })
    const { organizationId, slug, agentId } = version
    const options = runOptions({ useDynamicLearning: true })
    const fields = { model, organizationId, slug, agentId }
    const { original, steps } = await anOriginal([], fields, { options })
    expect(answersIn(messageOf(requests[0]))).toEqual(['First.'])
    await past(version, { question: 'Why?', feedback: { correctedOutput: { answer: 'Later.' } } })
    const { execution } = await repeat(original, steps)
    expect(execution.learnedFrom).toEqual(original.learnedFrom)
  })

  it('repeats a run that ended on a fallback on the default model with which it began', async () => {
    const first = scriptModel([{ calls: [look('a')] }, ...Array(20).fill(DOWN)])
    const fallback = scriptModel([answer])
    const on = (model: string) => ({
      ...engine,
      environment: { ...engine.environment, DEFAULT_MODEL: model },
    })
    const fields = { model: null, fallbacks: [fallback.model] }
    const then = originalsOn({ engine: on(first.model), scriptModel }, { tools: TOOLS })
    const { version, original, steps } = await then.anOriginal([], fields)
    expect(steps.map(({ step }) => step.model)).toEqual([first.model, fallback.model])
    expect(original.model).toBe(fallback.model)
    const settings = { ...RECORDED, defaultModel: original.model }
    const other = scriptModel([])
    const replayed = await runReplay(on(other.model), original, version, { settings })
    expect(contentOf(replayed.steps)).toEqual(contentOf(steps))
    expect(other.requests).toHaveLength(0)
  })

  it('costs nothing, also where there are prices, budgets and limits', async () => {
    const { model } = scriptModel([{ calls: [look('a')] }, answer])
    const priced = {
      ...offline,
      environment: { MODEL_PRICES: JSON.stringify({ [model]: { input: 100, output: 100 } }) },
      limits: new Proxy({} as NonNullable<Engine['limits']>, {
        get: () => () => Promise.reject(new Error('A replayed response spends nothing.')),
      }),
    }
    const { original, steps } = await anOriginal([], { model })
    const maxTrialCostUsd = 0.000001
    const options = runOptions({ maxCostUsd: maxTrialCostUsd })
    const { execution } = await repeat({ ...original, options }, steps, priced, { maxTrialCostUsd })
    expect(execution.usage).toEqual({ inputTokens: 0, outputTokens: 0, costUsd: 0 })
  })
})

describe('a replay with recorded models of an original that failed', () => {
  const invalid = { status: 400, message: 'Invalid.' }
  const long = Array.from({ length: 8 }, (_, i) => ({ calls: [look(`long-${i}`)] }))

  it('ends where a request of it failed, also with a larger budget', async () => {
    const given = { options: runOptions({ maxTokens: 100_000 }) }
    const { original, steps } = await anOriginal([{ calls: [look('a')] }, invalid], {}, given)
    expect(original.error?.code).toBe('ModelFailed')
    for (const maxTokens of [100_000, 1_000_000]) {
      const { execution } = await repeat({ ...original, options: runOptions({ maxTokens }) }, steps)
      expect(execution.judgement?.verdict).toBe('SAME')
    }
  })

  it('ends where its time was up, also in a call', async () => {
    const { original, steps, version } = await anOriginal([{ calls: [look('a'), look('b')] }, invalid])
    const timedOut = { ...original, error: { code: 'TimedOut', message: 'Too late.' } }
    const on = (results: number): Engine => ({
      ...offline,
      executions: {
        ...engine.executions,
        get: async (key) => (key.id === original.id ? timedOut : engine.executions.get(key)),
      },
      steps: withJournal(
        original,
        steps.map((each) => ({ ...each, results: new Map([...each.results].slice(0, results)) })),
      ).steps,
    })
    for (const results of [0, 1, 2]) {
      const { execution } = await runReplay(on(results), original, version, { settings: RECORDED })
      expect(execution).toMatchObject({ error: timedOut.error, judgement: { verdict: 'SAME' } })
    }
  })

  it('ends where its budget was used up, and goes on with a larger one', async () => {
    const given = { options: runOptions({ maxTokens: 4_000 }) }
    let isLarger = false
    const script: Script = (_, index) => (isLarger ? answer : { calls: [look(`long-${index}`)] })
    const { original, steps, version } = await anOriginal(script, {}, given)
    expect(original.error?.code).toBe('BudgetExceeded')
    const { execution } = await repeat(original, steps)
    expect(execution.judgement?.verdict).toBe('SAME')
    isLarger = true
    const larger = { settings: RECORDED, options: runOptions({ maxTokens: 1_000_000 }) }
    const continued = await runReplay(engine, original, version, larger)
    expect(continued.execution.status).toBe('SUCCESS')
    expect(continued.steps.map(({ step }) => step.replayed !== undefined).indexOf(false)).toBe(steps.length)
  })

  it('uses up a smaller budget with what it replays', async () => {
    const { original, version } = await anOriginal([...long.slice(0, 4), answer])
    const options = runOptions({ maxTokens: 2_000 })
    const { execution } = await runReplay(offline, original, version, { settings: RECORDED, options })
    expect(original.status).toBe('SUCCESS')
    expect(execution).toMatchObject({ error: { code: 'BudgetExceeded' }, judgement: { verdict: 'ERROR' } })
    expect(execution.steps).toBeLessThan(original.steps)
  })
})

describe('a replay with recorded models', () => {
  it('sends what the original had cleared if its request is another one', async () => {
    const script = [1, 2, 3].map((n) => ({ calls: [look(`long-${n}`)] }))
    const all = [...script, TOO_LONG, answer, answer]
    const { original, version, steps, requests } = await anOriginal(all, { context: { keep: 1 } })
    expect(steps.at(-1)?.step.clearedResults).toBe(2)
    const other = steps.map(({ step, results }, index) => ({
      results,
      step: index < 3 || !step.request ? step : { ...step, request: { ...step.request, messages: 'other' } },
    }))
    const on = withJournal(original, other)
    const { execution } = await runReplay(on, original, version, { settings: RECORDED })
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 4 })
    const cleared = requests.map((request) => JSON.stringify(request).includes('[cleared'))
    expect(cleared.slice(-2)).toEqual([true, false])
  })

  it('asks the model from the first request on that differs', async () => {
    const recorded = [{ calls: [look('a')] }, { calls: [look('b')] }, answer]
    const live = [{ calls: [look('b')] }, { calls: [finalAnswer({ answer: 'New.' })] }]
    const { model, requests } = scriptModel([...recorded, ...live])
    const { original, version } = await anOriginal([], { model })
    const { draft } = await aDraft(version, [], { model, instructions: 'Answer in another way.' })
    const { execution, steps } = await runReplay(engine, original, draft, { settings: RECORDED })
    expect(execution).toMatchObject({ status: 'SUCCESS', output: { answer: 'New.' }, replayedUsage: null })
    expect(requests).toHaveLength(5)
    expect(steps.map(({ step }) => step.replayed)).toEqual([undefined, undefined])
  })

  it('does not return to the recording once a request differed', async () => {
    const script = [{ calls: [look('a')] }, { calls: [look('b')] }, answer]
    const { model, requests } = scriptModel([...script, ...script.slice(1)])
    const prices = JSON.stringify({ [model]: { input: 100, output: 100 } })
    const on = { ...engine, environment: { ...engine.environment, MODEL_PRICES: prices } }
    const { version, original, steps } = await originalsOn(
      { engine: on, scriptModel },
      { tools: TOOLS },
    ).anOriginal([], { model })
    // The result of the live tool is another one each time: the second request differs.
    const settings = { ...RECORDED, tools: { default: 'recorded' as const, look_up: 'live' as const } }
    const { execution, steps: replayed } = await runReplay(on, original, version, { settings })
    const replayedUsage = steps[0]?.step.usage
    expect(replayed.map(({ step }) => step.replayed?.usage)).toEqual([replayedUsage, undefined, undefined])
    expect(execution).toMatchObject({ status: 'SUCCESS', replayedUsage })
    expect(requests).toHaveLength(5)
    // What the model was asked for is counted, with its price.
    expect(execution.usage).toEqual(usageIn(replayed.slice(1)))
    expect(execution.usage.costUsd).toBeGreaterThan(0)
  })

  it.each([
    ['all', 2],
    ['the first', 1],
  ])(
    'asks the model for all responses of an original that has no keys of %s of its requests',
    async (_, missing) => {
      // With the same ids, the second request is the same again.
      const script = [{ calls: [{ ...look('a'), id: 'call_1' }] }, answer]
      const { original, version, steps, requests } = await anOriginal([...script, ...script])
      const older = steps.map(({ step: { request, ...step }, results }, index) => ({
        step: { ...step, ...(request && index >= missing && { request }) },
        results,
      }))
      const on = withJournal(original, older)
      const { execution, steps: replayed } = await runReplay(on, original, version, { settings: RECORDED })
      expect(execution).toMatchObject({ status: 'SUCCESS', replayedUsage: null, steps: 2 })
      expect(replayed.map(({ step }) => step.request)).toEqual(steps.map(({ step }) => step.request))
      expect(requests).toHaveLength(4)
    },
  )

  it('needs a key for the first request that differs, and says so', async () => {
    const { original, version } = await anOriginal([{ calls: [look('a')] }, answer])
    const { model } = original
    const { draft } = await aDraft(version, [], { model, instructions: 'Answer in another way.' })
    const { execution } = await runReplay(offline, original, draft, { settings: RECORDED })
    expect(execution).toMatchObject({ status: 'ERROR', error: { code: 'ModelNotConfigured' } })
  })
})

describe('a replay from a step on', () => {
  it('has the steps before as they are, with their results, and goes on by itself', async () => {
    const script = [{ calls: [look('a')] }, { calls: [look('b')] }, answer]
    const { original, version, steps } = await anOriginal(script)
    const others = [{ calls: [look('c')] }, { calls: [finalAnswer({ answer: 'New.' })] }]
    const { draft, requests } = await aDraft(version, others, { instructions: 'Answer in another way.' })
    const calls = server.calls.length
    const settings = { fromStep: 3, tools: { default: 'live' as const } }
    const { execution, steps: replayed } = await runReplay(engine, original, draft, { settings })
    expect(server.calls.slice(calls).map(({ path }) => path)).toEqual(['/things/c'])
    expect(contentOf(replayed).slice(0, 2)).toEqual(contentOf(steps).slice(0, 2))
    expect(requests).toHaveLength(2)
    const replayedUsage = usageIn(steps.slice(0, 2))
    const output = { answer: 'New.' }
    expect(execution).toMatchObject({ status: 'SUCCESS', output, steps: 4, replayedUsage })
  })

  it('returns the result of an original that has no more steps', async () => {
    const { original, version, steps } = await anOriginal([{ calls: [look('a')] }, answer])
    const { draft, requests } = await aDraft(version, [])
    const { execution } = await runReplay(engine, original, draft, { settings: { fromStep: 9 } })
    expect(execution).toMatchObject({ status: 'SUCCESS', output: original.output, steps: steps.length })
    expect(requests).toHaveLength(0)
  })
})
