import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ModelConfigurationError } from '../../lib/core/model.ts'
import { formatModelName, parseModelName } from '../../lib/models/model-name.ts'
import { REASONING_LEVELS } from '../../lib/models/providers/provider-traits.ts'
import { PROVIDERS } from '../../lib/models/providers/providers.ts'

describe('parseModelName', () => {
  it.each([
    ['openai/gpt-5', 'openai', 'gpt-5', 'default'],
    ['openai/gpt-5:high', 'openai', 'gpt-5', 'high'],
    ['openai/gpt-5:default', 'openai', 'gpt-5', 'default'],
    [
      'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0',
      'bedrock',
      'anthropic.claude-sonnet-4-5-20250929-v1:0',
      'default',
    ],
    [
      'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0:low',
      'bedrock',
      'anthropic.claude-sonnet-4-5-20250929-v1:0',
      'low',
    ],
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
    ['openai/gpt-5:', 'none, default, minimal, low, medium, high'],
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
