import { describe, expect, it } from 'vitest'
import { toStepRecord } from '../../../lib/contract/records/step.ts'
import type { Provider } from '../../../lib/models/providers/providers.ts'
import { finalAnswer } from '../../support/engine/model-agent.ts'
import { startScriptedEngine } from '../../support/engine/scripted-engine.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'

const { aToolAgent, runScript, server } = await startScriptedEngine()

const length = 'length' as const
const usage = { inputTokens: 10, outputTokens: 300 }
const good = { calls: [finalAnswer({ answer: 'Whole.' })] }
const lookup = { calls: [{ name: 'look_up', input: { id: 'x' } }] }
const cutAnswer = { calls: [finalAnswer({ answer: 'cut of' })], finish: length, usage }

describe.each(SCRIPTED_PROVIDERS)('a truncated response of %s', (provider) => {
  it('is requested once more, with twice its tokens as output limit', async () => {
    const { execution, steps, requests, done } = await runScript([lookup, cutAnswer, good], {
      version: await aToolAgent(),
      provider,
    })
    done()
    expect(execution).toMatchObject({
      status: 'SUCCESS',
      output: { answer: 'Whole.' },
      steps: 3,
      usage: { inputTokens: 30, outputTokens: 310 },
    })
    expect(steps.map(({ step }) => step.kind === 'MODEL' && step.stopReason)).toEqual([
      'tool-calls',
      'length',
      'tool-calls',
    ])
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
    const { execution, steps, requests, done } = await runScript([cut, cut], { version, provider })
    done()
    expect(execution).toMatchObject({
      status: 'ERROR',
      output: null,
      error: { code: 'ModelTruncated', step: 2 },
    })
    expect(requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([500, 1_000])
    expect(server.calls).toHaveLength(calls)
    expect(steps.map((step) => toStepRecord(step).stopReason)).toEqual(['length', 'length'])
    expect(steps.flatMap(({ results }) => [...results])).toEqual([])
  })

  it('is requested again each time that a complete one was in between', async () => {
    const script = [cutAnswer, lookup, cutAnswer, good]
    const { execution, done } = await runScript(script, { version: await aToolAgent(), provider })
    done()
    expect(execution).toMatchObject({ status: 'SUCCESS', steps: 4 })
  })

  it('ends the run if it was the last step', async () => {
    const version = await aToolAgent()
    const { execution } = await runScript([cutAnswer], { version, provider, maxAgentSteps: 1 })
    expect(execution.error).toMatchObject({ code: 'ModelTruncated', step: 1 })
  })

  it('ends the run if the provider rejects the higher limit', async () => {
    const script = [cutAnswer, { status: 400, message: 'max_tokens is too large' }]
    const { execution, done } = await runScript(script, { version: await aToolAgent(), provider })
    done()
    expect(execution.error).toMatchObject({
      code: 'ModelTruncated',
      message: expect.stringContaining('max_tokens is too large'),
    })
  })
})

describe.each<[Provider, string]>([
  ['anthropic', 'claude-sonnet-4-5'],
  ['bedrock', 'eu.anthropic.claude-sonnet-4-5-20250929'],
])('a truncated response of %s/%s, which returns at most 64,000 tokens,', (provider, family) => {
  const run = async (maxOutputTokens?: number) => {
    const version = await aToolAgent({ ...(maxOutputTokens && { modelSettings: { maxOutputTokens } }) })
    return runScript([cutAnswer, cutAnswer], { version, provider, family })
  }

  it('is requested again with no more than that, and not if it had as much', async () => {
    const { requests, done } = await run(40_000)
    done()
    expect(requests.map(({ maxOutputTokens }) => maxOutputTokens)).toEqual([40_000, 64_000])
    for (const limit of [undefined, 64_000, 100_000]) {
      const { execution, requests } = await run(limit)
      expect(requests).toHaveLength(1)
      expect(execution.error?.message).toMatch(new RegExp(`${family}-.* returns at most 64000 tokens.`))
    }
  })
})

describe.each(SCRIPTED_PROVIDERS)('a refusal of %s', (provider) => {
  it('ends the run at once in ERROR ModelRefused with its text', async () => {
    const refusal = 'I cannot help with that.'
    const { execution, steps, requests } = await runScript([{ refusal }], {
      version: await aToolAgent(),
      provider,
    })
    expect(requests).toHaveLength(1)
    expect(execution).toMatchObject({ status: 'ERROR', steps: 1, error: { code: 'ModelRefused', step: 1 } })
    expect(execution.error?.message).toContain(refusal)
    expect(steps[0]?.step).toMatchObject({ text: refusal })
  })

  it('by a content filter is never a result, even with calls', async () => {
    const filtered = { text: 'Well,', ...good, finish: 'content-filter' as const }
    const { execution, requests } = await runScript([filtered], { version: await aToolAgent(), provider })
    expect(requests).toHaveLength(1)
    expect(execution).toMatchObject({ output: null, error: { code: 'ModelRefused' } })
    expect(execution.error?.message).toContain('Well,')
  })
})

it.each(['openai', 'openai-compatible'] as Provider[])(
  'a content filter of %s that rejects the request ends the run in ERROR ModelRefused',
  async (provider) => {
    const rejected = { status: 400, code: 'content_filter', message: 'The prompt was filtered.' }
    const { execution, requests } = await runScript([rejected], { version: await aToolAgent(), provider })
    expect(requests).toHaveLength(1)
    expect(execution.error).toMatchObject({
      code: 'ModelRefused',
      message: expect.stringContaining('The prompt was filtered.'),
    })
  },
)

it('a conversation that fills the context window is not requested again', async () => {
  const full = { text: 'Well,', stopReason: 'model_context_window_exceeded' }
  const { execution, requests } = await runScript([full], {
    version: await aToolAgent(),
    provider: 'anthropic',
  })
  expect(requests).toHaveLength(1)
  expect(execution.error).toMatchObject({
    code: 'ModelTruncated',
    message: expect.stringContaining('context window'),
  })
})
