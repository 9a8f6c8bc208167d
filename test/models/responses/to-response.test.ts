import { describe, expect, it } from 'vitest'
import { parseToolCall } from '../../../lib/models/responses/to-response.ts'
import { SCRIPTED_PROVIDERS } from '../../support/scripted-model/start-scripted-model.ts'
import { chunk } from '../frames/junk.ts'
import { binary, respond, sse } from '../frames/support.ts'
import { ADD, openScripted, requestOf, useScriptedModel } from '../support.ts'

const parse = (input: string, { toolName = 'add', tools = [ADD] } = {}) =>
  parseToolCall({ type: 'tool-call', toolCallId: 'call_1', toolName, input }, tools)

describe('parseToolCall', () => {
  it('parses the input', () => {
    const call = { id: 'call_1', name: 'add', input: { a: 1, b: 2 }, error: null }
    expect(parse('{"a": 1, "b": 2}')).toEqual(call)
  })

  it.each(['', ' \n'])('accepts %j as an empty input', (text) => {
    expect(parse(text)).toMatchObject({ input: {}, error: null })
  })

  it('quotes invalid JSON', () => {
    const { input, error } = parse('{"a": 1, ')
    expect(input).toBe('{"a": 1, ')
    expect(error).toMatch(/^The input of the tool add is not valid JSON: .+ Received: \{"a": 1, $/)
  })

  it.each(['{"a": 9007199254740993}', '{"a": 1e999}', '{"a": 1, "a": 2}'])('rejects %s', (text) => {
    expect(parse(text)).toMatchObject({ input: text, error: expect.stringContaining('contains') })
  })

  it.each([
    ['[1,2]', [1, 2]],
    ['"one"', 'one'],
    ['null', null],
    ['3', 3],
  ])('rejects %s, which is not an object', (text, value) => {
    const error = `The input of the tool add must be a JSON object. Received: ${text}`
    expect(parse(text)).toMatchObject({ input: value, error })
  })

  it('lists the available tools for an unknown tool', () => {
    expect(parse('{"a":1}', { toolName: 'toString' })).toMatchObject({
      input: { a: 1 },
      error: 'Unknown tool "toString". Available tools: add.',
    })
    const { error } = parse('{', { toolName: 'sub', tools: [] })
    expect(error).toBe('Unknown tool "sub". Available tools: none.')
  })
})

const scripted = await useScriptedModel()

const GIVEN = { inputTokens: 100, outputTokens: 50 }
const ALL = { ...GIVEN, cachedInputTokens: 60, cacheWriteTokens: 20, reasoningTokens: 30 }
const ZERO = { ...GIVEN, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }

/** What a format has no member for. */
const NEVER_REPORTED = {
  openai: [],
  anthropic: [],
  bedrock: ['reasoningTokens'],
  'openai-compatible': ['cacheWriteTokens'],
}

describe.each(SCRIPTED_PROVIDERS)('the usage of a response of %s', (format) => {
  const without = (usage: object) =>
    Object.fromEntries(
      Object.entries(usage).filter(([name]) => !(NEVER_REPORTED[format] as string[]).includes(name)),
    )

  it.each([ALL, ZERO, GIVEN])('contains the counts that the provider reports: %j', async (usage) => {
    const { model } = await openScripted(scripted, format, [{ text: 'Three.', usage }])
    expect((await model.respond(requestOf(model))).usage).toEqual(without(usage))
  })
})

const STOP = { stop_reason: 'end_turn' }
const SAID = 'Three, I think.'

/** What each format reports, for counts of any type. */
const report = {
  'openai-compatible': (input: unknown, output: unknown, said = SAID) =>
    sse(chunk({ content: said }, 'stop'), {
      choices: [],
      usage: { prompt_tokens: input, completion_tokens: output },
    }),
  openai: (input: unknown, output: unknown) =>
    sse(
      { type: 'response.output_text.delta', output_index: 0, delta: SAID },
      { type: 'response.completed', response: { usage: { input_tokens: input, output_tokens: output } } },
    ),
  anthropic: (input: unknown, output: unknown) =>
    sse(
      { type: 'message_start', message: { usage: { input_tokens: input, output_tokens: 1 } } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: SAID } },
      { type: 'message_delta', delta: STOP, usage: { input_tokens: 0, output_tokens: output } },
      { type: 'message_stop' },
    ),
  bedrock: (input: unknown, output: unknown) =>
    binary(
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: SAID } } },
      { messageStop: { stopReason: 'end_turn' } },
      { metadata: { usage: { inputTokens: input, outputTokens: output } } },
    ),
}

describe.each(SCRIPTED_PROVIDERS)('a count of %s that cannot be true', (format) => {
  const usageOf = async (input: unknown, output: unknown) =>
    (await respond(format, { body: report[format](input, output) })).usage

  it.each([0, -1, null, undefined, 'many', {}])('is estimated by itself: %j', async (count) => {
    const estimated = await usageOf(count, count)
    expect(estimated).toMatchObject({ estimated: true })
    expect(estimated.inputTokens).toBeGreaterThan(5)
    expect(estimated.outputTokens).toBeGreaterThan(1)
    expect(await usageOf(1_000, count)).toEqual({ ...estimated, inputTokens: 1_000 })
    expect(await usageOf(count, 50)).toEqual({ ...estimated, outputTokens: 50 })
  })

  it('is none if it is a text', async () => {
    expect(await usageOf('1000', '50')).toEqual({ inputTokens: 1_000, outputTokens: 50 })
  })
})

it('an empty response has no output tokens, which is not an estimate', async () => {
  const body = report['openai-compatible'](1_000, 0, '')
  const { usage } = await respond('openai-compatible', { body })
  expect(usage).toEqual({ inputTokens: 1_000, outputTokens: 0 })
})
