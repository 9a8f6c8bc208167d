import { describe, expect, it, vi } from 'vitest'
import { parseModelName } from '../../../lib/models/model-name.ts'
import { openModel } from '../../../lib/models/open-model.ts'
import {
  acceptsTemperature,
  getAnswerModes,
  getOutputLimit,
} from '../../../lib/models/providers/model-traits.ts'
import type { Reasoning } from '../../../lib/models/providers/provider-traits.ts'
import { PROVIDERS, type Provider, traitsOf } from '../../../lib/models/providers/providers.ts'
import { readSection } from '../../infra/read-section.ts'
import { json, serve } from '../../tools/serve.ts'
import { requestOf, useScriptedModel } from '../support.ts'

const server = await useScriptedModel()

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

/** Sends a request to a model with this name. */
async function send(
  format: Provider,
  id: string,
  reasoning: Reasoning = 'default',
  settings?: { temperature: number },
) {
  server.script(id, [{ text: 'Three.' }])
  const name = server.modelFor(format, id, reasoning)
  const model = await openModel(name, server.environmentFor(format), { settings })
  await model.respond(requestOf(model))
  server.assertDone(id)
  return { name, model, request: server.requests(id)[0] }
}

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
  ['bedrock', 'openai.gpt-oss-120b-1:0', 'medium', { reasoning_effort: 'medium' }, null],
  ['bedrock', 'meta.llama3-1-70b-instruct-v1:0', 'none', {}, null],
]

describe('openModel with a reasoning level', () => {
  it.each(REQUESTS)('for %s/%s:%s sends %j', async (format, id, reasoning, wire, maxOutputTokens) => {
    const { name, model, request } = await send(format, id, reasoning)
    expect(model.name).toBe(reasoning === 'default' ? `${format}/${id}` : name)
    expect(request).toMatchObject({ format, maxOutputTokens })
    expect(request?.reasoning).toEqual(wire)
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
    const { name, request } = await send('anthropic', id)
    expect(getOutputLimit(parseModelName(name))).toBe(request?.maxOutputTokens)
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
    const { name, model, request } = await send(format, id, reasoning, { temperature: 0.5 })
    const isSent = request?.temperature === 0.5
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

const openai = { OPENAI_API_KEY_PARAMETER: '/team/openai' }
const PARAMETERS: Record<string, string> = { '/team/openai': ' sk-from-ssm\n', '/team/empty': ' ' }

/** A server for the SSM API, and modules with an empty cache. */
async function setUp() {
  vi.resetModules()
  const store = await serve((response, { body }) => {
    const { Name, WithDecryption } = JSON.parse(body)
    const fail = (__type: string) => json(response, { __type, message: 'no' }, 400)
    if (Name === '/team/denied') return fail('AccessDeniedException')
    const Value = PARAMETERS[Name]
    if (Value === undefined) return fail('ParameterNotFound')
    return WithDecryption ? json(response, { Parameter: { Name, Value } }) : fail('NotDecrypted')
  })
  const aws = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' }
  for (const [name, value] of Object.entries({ ...aws, AWS_ENDPOINT_URL_SSM: store.url }))
    vi.stubEnv(name, value)
  const { withProviderKey } = await import('../../../lib/models/providers/provider-settings.ts')
  return { store, withProviderKey }
}

describe('provider settings', () => {
  describe('withProviderKey', () => {
    it('reads a missing key once from the configured parameter', async () => {
      const { store, withProviderKey } = await setUp()
      const expected = { ...openai, OPENAI_API_KEY: 'sk-from-ssm' }
      expect(await withProviderKey('openai', openai)).toEqual(expected)
      expect(await withProviderKey('openai', openai)).toEqual(expected)
      expect(store.received).toHaveLength(1)
    })

    it('does not read a parameter if the key is set, no parameter is configured, or the provider is another one', async () => {
      const { store, withProviderKey } = await setUp()
      for (const environment of [{ ...openai, OPENAI_API_KEY: 'sk-here' }, {}])
        expect(await withProviderKey('openai', environment)).toBe(environment)
      for (const provider of ['bedrock', 'openai-compatible', 'anthropic'] as const)
        expect(await withProviderKey(provider, openai)).toBe(openai)
      expect(store.received).toHaveLength(0)
    })

    it.each(['/team/none', '/team/empty'])(
      'throws a ModelConfigurationError if %s has no key',
      async (path) => {
        const { withProviderKey } = await setUp()
        const reading = withProviderKey('anthropic', { ANTHROPIC_API_KEY_PARAMETER: path })
        await expect(reading).rejects.toMatchObject({
          name: 'ModelConfigurationError',
          message: expect.stringContaining(`The SSM parameter ${path} does not contain an API key.`),
        })
      },
    )

    it('throws a transient ModelError if the parameter cannot be read', async () => {
      const { withProviderKey } = await setUp()
      const reading = withProviderKey('openai', { OPENAI_API_KEY_PARAMETER: '/team/denied' })
      await expect(reading).rejects.toMatchObject({
        name: 'ModelError',
        isTransient: true,
        message: expect.stringContaining('/team/denied (AccessDeniedException)'),
      })
    })
  })

  describe('docs/models.md', () => {
    const rows = readSection('models.md', 'Providers').split('\n')

    it.each(PROVIDERS)('lists %s with its variables and its setting', (provider) => {
      const { baseUrl, required, apiKey, outputLimit } = traitsOf(provider).variables
      const setting = apiKey && `${provider}KeyParameter`
      const names = [baseUrl, ...required, outputLimit?.name, setting].filter((name) => name !== undefined)
      const row = rows.find((line) => line.includes(`| \`${provider}/`))
      expect(names.filter((name) => !row?.includes(`\`${name}\``))).toEqual([])
    })
  })
})
