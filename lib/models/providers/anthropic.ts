import { ANSWER_TOKENS, claudeFamilies, THINKING_TOKENS } from './claude.ts'
import { ALL_LEVELS, type CallOptions, type KeyedProviderTraits, type Level } from './provider-traits.ts'

const API_KEY = 'ANTHROPIC_API_KEY'

const DISABLED = { thinking: { type: 'disabled' } }

const withEffort = (level: Level): CallOptions => ({
  options: level === 'none' ? DISABLED : { thinking: { type: 'adaptive' }, effort: level },
})

const withBudget = (level: Level): CallOptions =>
  level === 'none'
    ? { options: DISABLED }
    : {
        options: { thinking: { type: 'enabled', budgetTokens: THINKING_TOKENS[level] } },
        maxOutputTokens: ANSWER_TOKENS,
      }

export const anthropic: KeyedProviderTraits = {
  title: 'Anthropic',
  variables: {
    baseUrl: 'ANTHROPIC_BASE_URL',
    required: [API_KEY],
    secrets: [API_KEY],
    apiKey: API_KEY,
  },
  hasColons: false,
  priceSource: 'anthropic',

  async open(model, { baseURL, variable, fetch }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic({
      apiKey: variable(API_KEY),
      baseURL: baseURL || 'https://api.anthropic.com/v1',
      fetch,
    })(model)
  },
  optionsKey: 'anthropic',
  reasoning: [
    ...claudeFamilies(withBudget, withEffort),
    // Another vendor's model behind an Anthropic-compatible API.
    { models: /./, levels: ALL_LEVELS, toOptions: withBudget },
  ],
  models: {
    forcedTool: /./,
    images: /claude-(?!instant|v?[12](?!\d))/,
    cachePoints: /./,
    // The package has its own list.
    strictTools: /./,
    reasoning: /./,
  },

  cachePoint: { cacheControl: { type: 'ephemeral' } },
  usage: {
    cachedInputTokens: 'cache_read_input_tokens',
    cacheWriteTokens: 'cache_creation_input_tokens',
    reasoningTokens: 'output_tokens_details.thinking_tokens',
  },
  stopReasons: { refusal: 'refusal', model_context_window_exceeded: 'context-window' },
}
