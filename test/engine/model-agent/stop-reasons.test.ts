import { describe, expect, it } from 'vitest'
import { toStepRecord } from '../../../lib/contract/records/step.ts'
import type { Provider } from '../../../lib/models/providers/providers.ts'
import { finalAnswer } from '../../support/engine/model-agent.ts'
import { lookup, startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import type { Script } from '../../support/scripted-model/turn.ts'

const { aToolAgent, runScript, server } = await startScriptedEngine()

/** Runs an agent with a tool on a script of which nothing is left. */
async function run(script: Script, { version, ...given }: Partial<Parameters<typeof runScript>[1]> = {}) {
  const { done, ...found } = await runScript(script, { version: version ?? (await aToolAgent()), ...given })
  done()
  return found
}

const length = 'length' as const
const usage = { inputTokens: 10, outputTokens: 300 }
const good = { calls: [finalAnswer({ answer: 'Whole.' })] }
const cutAnswer = { calls: [finalAnswer({ answer: 'cut of' })], finish: length, usage }

describe.each(SCRIPTED_PROVIDERS)('a truncated response of %s', (provider) => {
  it('is requested once more, with twice its tokens as output limit', async () => {
    const { execution, steps, requests } = await run([lookup, cutAnswer, good], { provider })
    expect(execution).toMatchObject({
      ...{ status: 'SUCCESS', output: { answer: 'Whole.' }, steps: 3 },
      usage: { inputTokens: 30, outputTokens: 310 },
    })
    const reasons = steps.map((step) => toStepRecord(step).stopReason)
    expect(reasons).toEqual(['tool-calls', 'length', 'tool-calls'])
    const [, second, third] = requests
    expect(third?.history).toEqual(second?.history)
    const limit = { openai: 600, 'openai-compatible': 4_000, anthropic: 600, bedrock: 600 }[provider]
    expect(third?.maxOutputTokens).toBe(limit)
  })

  it.each([
    ['a call of a tool', { ...lookup, finish: length }],
    ['a call that is not complete', { calls: [{ name: 'look_up', raw: '{"id": "x' }], finish: length }],
    ['an answer', cutAnswer],
    ['a text that is JSON', { text: '{"answer":"cut of"}', finish: length }],
    ['nothing', { finish: length }],
  ])('with %s is not used; after two, the run ends in ERROR ModelTruncated', async (_, cut) => {
    const calls = server.calls.length
    const version = await aToolAgent({ modelSettings: { maxOutputTokens: 500 } })
    const { execution, steps, requests } = await run([cut, cut], { version, provider })
    const error = { code: 'ModelTruncated', step: 2 }
    expect(execution).toMatchObject({ status: 'ERROR', output: null, error })
    expect(requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([500, 1_000])
    expect(server.calls).toHaveLength(calls)
    expect(steps.map((step) => toStepRecord(step).stopReason)).toEqual(['length', 'length'])
    expect(steps.flatMap(({ results }) => [...results])).toEqual([])
  })

  it('is requested again each time that a complete one was in between', async () => {
    const { execution } = await run([cutAnswer, lookup, cutAnswer, good], { provider })
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 4 })
  })

  it('ends the run if it was the last step', async () => {
    const { execution } = await run([cutAnswer], { provider, maxAgentSteps: 1 })
    expect(execution.error).toMatchObject({ code: 'ModelTruncated', step: 1 })
  })

  it('ends the run if the provider rejects the higher limit', async () => {
    const script = [cutAnswer, { status: 400, message: 'max_tokens is too large' }]
    const { execution } = await run(script, { provider })
    const message = expect.stringContaining('max_tokens is too large')
    expect(execution.error).toMatchObject({ code: 'ModelTruncated', message })
  })
})

describe.each<[Provider, string]>([
  ['anthropic', 'claude-sonnet-4-5'],
  ['bedrock', 'eu.anthropic.claude-sonnet-4-5-20250929'],
])('a truncated response of %s/%s, which returns at most 64,000 tokens,', (provider, family) => {
  const runWith = async (script: Script, maxOutputTokens?: number) => {
    const version = await aToolAgent({ ...(maxOutputTokens && { modelSettings: { maxOutputTokens } }) })
    return run(script, { version, provider, family })
  }

  it('is requested again with no more than that, and not if it had as much', async () => {
    const { requests } = await runWith([cutAnswer, cutAnswer], 40_000)
    expect(requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([40_000, 64_000])
    for (const limit of [undefined, 64_000, 100_000]) {
      const { execution } = await runWith([cutAnswer], limit)
      expect(execution.error?.message).toMatch(new RegExp(`${family}-.* returns at most 64000 tokens.`))
    }
  })
})

describe.each(SCRIPTED_PROVIDERS)('a refusal of %s', (provider) => {
  it('ends the run at once in ERROR ModelRefused with its text', async () => {
    const refusal = 'I cannot help with that.'
    const { execution, steps } = await run([{ refusal }], { provider })
    const error = { code: 'ModelRefused', step: 1, message: expect.stringContaining(refusal) }
    expect(execution).toMatchObject({ status: 'ERROR', steps: 1, error })
    expect(steps[0]?.step).toMatchObject({ text: refusal })
  })

  it('by a content filter is never a result, even with calls', async () => {
    const filtered = { text: 'Well,', ...good, finish: 'content-filter' as const }
    const { execution } = await run([filtered], { provider })
    const error = { code: 'ModelRefused', message: expect.stringContaining('Well,') }
    expect(execution).toMatchObject({ output: null, error })
  })
})

it.each(['openai', 'openai-compatible'] as Provider[])(
  'a content filter of %s that rejects the request ends the run in ERROR ModelRefused',
  async (provider) => {
    const rejected = { status: 400, code: 'content_filter', message: 'The prompt was filtered.' }
    const { execution } = await run([rejected], { provider })
    const message = expect.stringContaining(rejected.message)
    expect(execution.error).toMatchObject({ code: 'ModelRefused', message })
  },
)

it('a conversation that fills the context window is not requested again', async () => {
  const full = { text: 'Well,', stopReason: 'model_context_window_exceeded' }
  const { execution } = await run([full], { provider: 'anthropic' })
  const message = expect.stringContaining('context window')
  expect(execution.error).toMatchObject({ code: 'ModelTruncated', message })
})
