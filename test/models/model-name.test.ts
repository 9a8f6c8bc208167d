import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ModelConfigurationError } from '../../lib/core/model.ts'
import type { Environment } from '../../lib/environment.ts'
import { checkModel } from '../../lib/models/check-model.ts'
import { formatModelName, parseModelName } from '../../lib/models/model-name.ts'
import { REASONING_LEVELS } from '../../lib/models/providers/provider-traits.ts'
import { PROVIDERS } from '../../lib/models/providers/providers.ts'

const LEVELS = 'none, default, minimal, low, medium, high'
const AWS = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'secret' }
const OPENAI = { OPENAI_API_KEY: 'sk-1' }
const ANTHROPIC = { ANTHROPIC_API_KEY: 'sk-ant-1' }
const COMPATIBLE = { OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:11434/v1' }
const SONNET = 'anthropic.claude-sonnet-4-5-20250929-v1:0'

describe('parseModelName', () => {
  it.each([
    ['openai/gpt-5', 'openai', 'gpt-5', 'default'],
    ['openai/gpt-5:high', 'openai', 'gpt-5', 'high'],
    ['openai/gpt-5:default', 'openai', 'gpt-5', 'default'],
    [`bedrock/${SONNET}`, 'bedrock', SONNET, 'default'],
    [`bedrock/${SONNET}:low`, 'bedrock', SONNET, 'low'],
    ['openai-compatible/qwen3:8b', 'openai-compatible', 'qwen3:8b', 'default'],
    ['openai-compatible/qwen3:8b:low', 'openai-compatible', 'qwen3:8b', 'low'],
    ['openai-compatible/meta-llama/Llama-3:none', 'openai-compatible', 'meta-llama/Llama-3', 'none'],
    ['openai-compatible/high:low:minimal', 'openai-compatible', 'high:low', 'minimal'],
    ['openai/gpt-5:extreme', 'openai', 'gpt-5:extreme', 'default'],
  ])('parses %s', (text, provider, model, reasoning) => {
    expect(parseModelName(text)).toEqual({ provider, model, reasoning })
  })

  it.each([
    ['', PROVIDERS.join(', ')],
    ['gpt-5', PROVIDERS.join(', ')],
    ['google/gemini', PROVIDERS.join(', ')],
    ['OpenAI/gpt-5', PROVIDERS.join(', ')],
    ['/gpt-5', PROVIDERS.join(', ')],
    ['openai/', 'no model after the provider'],
    ['openai/:high', 'no model after the provider'],
    ['openai/ :high', 'no model after the provider'],
    ['openai/gpt-5:', LEVELS],
    ['openai/gpt-5\n', 'control characters'],
    ['openai/\ud800', 'control characters'],
    [`openai/${'x'.repeat(200)}`, '200 characters'],
  ])('rejects %j', (text, message) => {
    const parse = () => parseModelName(text)
    expect(parse).toThrow(ModelConfigurationError)
    expect(parse).toThrow(message)
  })

  it('parses the output of formatModelName', () => {
    const name = fc.record({
      provider: fc.constantFrom(...PROVIDERS),
      model: fc
        .stringMatching(/^[a-z0-9.:/-]{0,40}[a-z]$/)
        .filter((model) => !/:(none|default|minimal|low|medium|high)$/.test(model)),
      reasoning: fc.constantFrom(...REASONING_LEVELS),
    })
    fc.assert(
      fc.property(name, (given) => {
        expect(parseModelName(formatModelName(given))).toEqual(given)
      }),
    )
  })
})

describe('checkModel', () => {
  it.each([
    ['openai/gpt-5:minimal', OPENAI],
    ['openai/gpt-4.1:none', OPENAI],
    ['openai/gpt-5', { OPENAI_API_KEY_PARAMETER: '/team/openai' }],
    ['openai/ft:gpt-4o:acme::id', OPENAI],
    ['openai/qwen3:8b', { ...OPENAI, OPENAI_BASE_URL: 'http://localhost:11434/v1' }],
    ['anthropic/claude-opus-4-6:none', ANTHROPIC],
    ['bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0:minimal', AWS],
    ['bedrock/amazon.nova-2-lite-v1:0:high', AWS],
    ['bedrock/unheard.of-v1:0', AWS],
    ['bedrock/unheard.of-v1:0', { AWS_REGION: 'eu-central-1', AWS_BEARER_TOKEN_BEDROCK: 'key' }],
    ['openai-compatible/qwen3:8b:none', COMPATIBLE],
  ])('accepts %s', (name, environment) => {
    expect(checkModel(name, environment)).toMatchObject({ provider: name.split('/')[0] })
  })

  it.each<[string, Environment, string]>([
    ['google/gemini', {}, 'openai-compatible'],
    ['openai/gpt-5', {}, 'OPENAI_API_KEY is not set'],
    ['openai/gpt-5', { OPENAI_API_KEY: '' }, 'OPENAI_API_KEY is not set'],
    ['anthropic/claude-opus-4-6', OPENAI, 'ANTHROPIC_API_KEY is not set'],
    ['openai/gpt-5', { ANTHROPIC_API_KEY_PARAMETER: '/a' }, 'OPENAI_API_KEY is not set'],
    ['openai-compatible/x', { OPENAI_COMPATIBLE_API_KEY: 'x' }, 'OPENAI_COMPATIBLE_BASE_URL is not set'],
    ['bedrock/amazon.nova-2-lite-v1:0', { ...AWS, AWS_REGION: '' }, 'AWS_REGION is not set'],
    ['bedrock/amazon.nova-2-lite-v1:0', { ...AWS, AWS_ACCESS_KEY_ID: undefined }, 'no AWS credentials'],
    ...['api.openai.com', 'ftp://api.openai.com', 'https://me:hidden@host/v1', 'https://:hidden@host/v1'].map(
      (url): [string, Environment, string] => [
        'openai/gpt-5',
        { ...OPENAI, OPENAI_BASE_URL: url },
        'OPENAI_BASE_URL must be',
      ],
    ),
    [
      'anthropic/x',
      { ...ANTHROPIC, ANTHROPIC_BASE_URL: 'https://host/v1?a=b' },
      'ANTHROPIC_BASE_URL must be',
    ],
    ['openai/gpt-5', { OPENAI_API_KEY: 'key\n' }, 'OPENAI_API_KEY contains an invalid character'],
    ['openai/gpt-5', { OPENAI_API_KEY: 'sk-hidden\n' }, 'OPENAI_API_KEY contains an invalid character'],
    ['openai/gpt-5:extreme', OPENAI, LEVELS],
    ['anthropic/claude-opus-4-6:ultra', ANTHROPIC, LEVELS],
  ])('rejects %s with %j', (name, environment, message) => {
    const check = () => checkModel(name, environment)
    expect(check).toThrow(ModelConfigurationError)
    expect(check).toThrow(message)
    expect(check).not.toThrow('hidden')
  })

  it.each([
    ['openai/gpt-4.1:high', 'none'],
    ['openai/gpt-5:none', 'minimal, low, medium, high'],
    ['openai/gpt-5.1:minimal', 'none, low, medium, high'],
    ['openai/gpt-5-pro:low', 'high'],
    ['openai/o3:none', 'low, medium, high'],
    ['anthropic/claude-3-5-haiku-latest:low', 'none'],
    ['anthropic/claude-opus-4-6:minimal', 'none, low, medium, high, max'],
    ['anthropic/claude-opus-4-6:xhigh', 'none, low, medium, high, max'],
    ['anthropic/claude-sonnet-4-5:xhigh', 'none, minimal, low, medium, high'],
    ['openai/gpt-5.2:max', 'none, low, medium, high, xhigh'],
    ['anthropic/claude-opus-5-5:none', 'low, medium, high, xhigh, max'],
    ['bedrock/amazon.nova-pro-v1:0:low', 'none'],
    ['bedrock/openai.gpt-oss-120b-1:0:none', 'low, medium, high'],
    ['bedrock/unheard.of-v1:0:low', ''],
  ])('rejects %s, which supports the default and %j', (name, levels) => {
    const check = () => checkModel(name, { ...OPENAI, ...ANTHROPIC, ...AWS })
    expect(check).toThrow(ModelConfigurationError)
    expect(check).toThrow(
      `Supported levels: ${['default', ...levels.split(', ')].filter(Boolean).join(', ')}.`,
    )
  })
})
