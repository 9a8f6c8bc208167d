import { describe, expect, it } from 'vitest'
import { parseModelName } from '../../../lib/models/model-name.ts'
import { openModel } from '../../../lib/models/open-model.ts'
import {
  acceptsTemperature,
  getAnswerModes,
  getOutputLimit,
} from '../../../lib/models/providers/model-traits.ts'
import type { Reasoning } from '../../../lib/models/providers/provider-traits.ts'
import type { Provider } from '../../../lib/models/providers/providers.ts'
import { requestOf, useScriptedModel } from '../support.ts'

const scripted = useScriptedModel()

type Row = [Provider, string, Reasoning, wire: object, maxOutputTokens: number | null]

const effort = (level: string) => ({ reasoning: { effort: level } })
const budget = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } })
const adaptive = (level: string) => ({ thinking: { type: 'adaptive' }, output_config: { effort: level } })
const OFF = { thinking: { type: 'disabled' } }

const SONNET = 'claude-sonnet-4-5-20250929'
const OPUS = 'claude-opus-4-6'
const BEDROCK_SONNET = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
const BEDROCK_OPUS = 'us.anthropic.claude-opus-4-6-v1'
const NOVA = 'amazon.nova-2-lite-v1:0'
const GPT_OSS = 'openai.gpt-oss-120b-1:0'

const REQUESTS: Row[] = [
  ['openai', 'gpt-5', 'default', {}, null],
  ['openai', 'gpt-5', 'minimal', effort('minimal'), null],
  ['openai', 'gpt-5.1', 'none', effort('none'), null],
  ['openai', 'gpt-4.1', 'none', {}, null],
  ['openai', 'gpt-5.1-codex-max', 'xhigh', effort('xhigh'), null],
  ['openai', 'gpt-5.6-sol', 'max', effort('max'), null],
  ['openai', 'gpt-6-astra', 'max', effort('max'), null],
  ['openai', 'unknown', 'high', effort('high'), null],

  ['openai-compatible', 'qwen3:8b', 'default', {}, 2_000],
  ['openai-compatible', 'qwen3:8b', 'none', { reasoning_effort: 'none' }, 2_000],
  ['openai-compatible', 'qwen3:8b', 'high', { reasoning_effort: 'high' }, 2_000],

  ['anthropic', SONNET, 'default', {}, 64_000],
  ['anthropic', SONNET, 'none', OFF, 64_000],
  ['anthropic', SONNET, 'minimal', budget(1_024), 17_024],
  ['anthropic', SONNET, 'low', budget(4_000), 20_000],
  ['anthropic', SONNET, 'medium', budget(8_000), 24_000],
  ['anthropic', SONNET, 'high', budget(16_000), 32_000],
  ['anthropic', 'claude-3-7-sonnet-latest', 'high', budget(16_000), 32_000],
  ['anthropic', 'claude-3-haiku-20240307', 'none', {}, 4_096],
  ['anthropic', OPUS, 'none', OFF, 128_000],
  ['anthropic', OPUS, 'high', adaptive('high'), 128_000],
  ['anthropic', OPUS, 'max', adaptive('max'), 128_000],
  ['anthropic', 'claude-opus-4-7', 'xhigh', adaptive('xhigh'), 128_000],
  ['anthropic', 'claude-sonnet-5', 'max', adaptive('max'), 128_000],
  ['anthropic', 'claude-opus-5-5', 'low', adaptive('low'), 128_000],
  ['anthropic', 'not-a-claude', 'high', budget(16_000), 32_000],

  ['bedrock', BEDROCK_SONNET, 'default', {}, null],
  ['bedrock', BEDROCK_SONNET, 'none', {}, null],
  ['bedrock', BEDROCK_SONNET, 'minimal', budget(1_024), 17_024],
  ['bedrock', BEDROCK_SONNET, 'high', budget(16_000), 32_000],
  ['bedrock', BEDROCK_OPUS, 'none', OFF, null],
  ['bedrock', BEDROCK_OPUS, 'high', adaptive('high'), null],
  ['bedrock', BEDROCK_OPUS, 'max', adaptive('max'), null],
  ['bedrock', 'eu.anthropic.claude-opus-5-v1:0', 'xhigh', adaptive('xhigh'), null],
  ['bedrock', 'openai.gpt-5.4', 'xhigh', { reasoning: { effort: 'xhigh' } }, null],
  ['bedrock', NOVA, 'none', {}, null],
  ['bedrock', NOVA, 'high', { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } }, null],
  ['bedrock', GPT_OSS, 'medium', { reasoning_effort: 'medium' }, null],
  ['bedrock', 'meta.llama3-1-70b-instruct-v1:0', 'none', {}, null],
]

describe('openModel with a reasoning level', () => {
  it.each(REQUESTS)('for %s/%s:%s sends %j', async (format, id, reasoning, wire, maxOutputTokens) => {
    const { server } = scripted
    server.script(id, [{ text: 'Three.' }])
    const name = server.modelFor(format, id, reasoning)
    const model = await openModel(name, server.environmentFor(format))
    expect(model.name).toBe(reasoning === 'default' ? `${format}/${id}` : name)

    await model.respond(requestOf(model))

    expect(server.requests(id)[0]).toMatchObject({ format, reasoning: wire, maxOutputTokens })
    expect(server.requests(id)[0]?.reasoning).toEqual(wire)
    server.assertDone(id)
  })
})

describe('getOutputLimit', () => {
  it.each([
    'claude-3-haiku-20240307',
    'claude-opus-4-20250514',
    'claude-opus-4-1-20250805',
    'claude-haiku-4-5',
    'claude-sonnet-4-5-20250929',
    'claude-opus-4-6',
    'claude-sonnet-5',
    'claude-fable-5-1',
  ])('knows what the SDK sends for %s without a limit', async (id) => {
    const { server } = scripted
    server.script(id, [{ text: 'Three.' }])
    const model = await openModel(`anthropic/${id}`, server.environmentFor('anthropic'))
    await model.respond(requestOf(model))
    expect(getOutputLimit(parseModelName(`anthropic/${id}`))).toBe(server.requests(id)[0]?.maxOutputTokens)
  })
})

describe('acceptsTemperature', () => {
  it.each<[Provider, string, Reasoning]>([
    ['anthropic', SONNET, 'default'],
    ['anthropic', SONNET, 'low'],
    ['anthropic', OPUS, 'high'],
    ['anthropic', 'claude-3-haiku-20240307', 'default'],
    ['anthropic', 'claude-opus-4-7', 'default'],
    ['anthropic', 'claude-sonnet-5', 'none'],
    ['anthropic', 'claude-opus-5-5', 'default'],
    ['anthropic', 'not-a-claude', 'default'],
    ['bedrock', BEDROCK_SONNET, 'low'],
    ['bedrock', BEDROCK_OPUS, 'default'],
    ['bedrock', 'eu.anthropic.claude-opus-5-v1:0', 'default'],
    ['bedrock', NOVA, 'default'],
    ['bedrock', 'openai.gpt-5.4', 'default'],
    ['openai', 'gpt-4.1', 'default'],
    ['openai', 'gpt-5', 'default'],
    ['openai', 'gpt-5-chat-latest', 'default'],
    ['openai', 'gpt-5.1', 'none'],
    ['openai', 'gpt-5.1', 'default'],
    ['openai', 'gpt-6-sol', 'none'],
    ['openai', 'o3', 'default'],
    ['openai', 'unknown', 'default'],
    ['openai-compatible', 'qwen3:8b', 'default'],
  ])('says whether the temperature is sent to %s/%s:%s', async (format, id, reasoning) => {
    const { server } = scripted
    server.script(id, [{ text: 'Three.' }])
    const name = server.modelFor(format, id, reasoning)
    const settings = { temperature: 0.5 }
    const model = await openModel(name, server.environmentFor(format), { settings })
    await model.respond(requestOf(model))
    const isSent = server.requests(id)[0]?.temperature === 0.5
    expect(acceptsTemperature(parseModelName(name))).toBe(isSent)
    expect(model.ignoredSettings).toEqual(isSent ? [] : ['temperature'])
  })
})

const FORCED = ['tool', 'forced-tool']
const STRUCTURED = [...FORCED, 'structured']

describe('getAnswerModes', () => {
  it.each([
    ['openai/gpt-5', STRUCTURED],
    ['openai/gpt-5:high', ['tool', 'structured']],
    ['openai/gpt-4o-2024-08-06', STRUCTURED],
    ['openai/gpt-4o-2024-05-13', FORCED],
    ['openai/some-model-of-a-proxy', FORCED],
    ['anthropic/claude-sonnet-4-5', STRUCTURED],
    ['anthropic/claude-sonnet-4-5:low', ['tool', 'structured']],
    ['anthropic/claude-opus-5-5', ['tool', 'structured']],
    ['anthropic/claude-sonnet-4-20250514', FORCED],
    ['bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0', STRUCTURED],
    ['bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0:high', ['tool', 'structured']],
    ['bedrock/us.anthropic.claude-sonnet-4-6', FORCED],
    ['bedrock/eu.amazon.nova-lite-v1:0', FORCED],
    ['bedrock/meta.llama3-1-70b-instruct-v1:0', ['tool']],
    ['openai-compatible/qwen3:8b', ['tool', 'json']],
  ])('of %s are %j', (name, modes) => {
    expect(getAnswerModes(parseModelName(name))).toEqual(modes)
  })
})
