import {
  ALL_LEVELS,
  type CallOptions,
  EFFORTS,
  type KeyedProviderTraits,
  type Level,
} from './provider-traits.ts'

const API_KEY = 'OPENAI_API_KEY'

/** `forceReasoning`: the SDK would omit the effort for models that it does not know. Summaries require a verified account. */
const toOptions = (level: Level): CallOptions => ({
  options: { reasoningEffort: level, reasoningSummary: null, forceReasoning: true },
})

export const openai: KeyedProviderTraits = {
  title: 'OpenAI',
  variables: {
    baseUrl: 'OPENAI_BASE_URL',
    required: [API_KEY],
    secrets: [API_KEY],
    apiKey: API_KEY,
  },
  hasColons: false,
  priceSource: 'openai',

  async open(model, { baseURL, variable, fetch }) {
    const { createOpenAI } = await import('@ai-sdk/openai')
    return createOpenAI({
      apiKey: variable(API_KEY),
      baseURL: baseURL || 'https://api.openai.com/v1',
      fetch,
    })(model)
  },
  optionsKey: 'openai',
  // With storage, OpenAI keeps the conversation and later requests only reference it.
  options: { store: false },
  reasoning: [
    { models: /^(gpt-3|gpt-4|chatgpt-|gpt-5(\.\d+)?-chat)/, levels: ['none'] },
    { models: /^gpt-5-pro/, levels: ['high'], toOptions },
    { models: /^gpt-5\.\d+-pro/, levels: ['medium', 'high'], toOptions },
    { models: /^(o\d|gpt-5(\.\d+)?-codex)/, levels: EFFORTS, toOptions },
    { models: /^gpt-5(?!\.)/, levels: ['minimal', ...EFFORTS], toOptions },
    { models: /^(gpt-5\.|gpt-6-(sol|luna))/, levels: ['none', ...EFFORTS], toOptions },
    { models: /^gpt-6/, levels: EFFORTS, toOptions },
    { models: /./, levels: ALL_LEVELS, toOptions },
  ],
  models: {
    forcedTool: /./,
    // Since GPT-4o.
    images: /^(ft:)?(gpt-4o|gpt-4\.1|chatgpt-4o|gpt-[5-9]|o1(?!-(mini|preview))|o3(?!-mini)|o4)/,
    strictTools: /./,
    reasoning: /./,
  },

  // OpenAI caches by itself, and routes requests with the same key to the same cache.
  cacheKey: 'promptCacheKey',
  isStrictByDefault: true,
  stream: {
    readRefusal: ({ type, refusal }) => type === 'response.refusal.done' && refusal,
  },
  usage: {
    cachedInputTokens: 'input_tokens_details.cached_tokens',
    cacheWriteTokens: 'input_tokens_details.cache_write_tokens',
    reasoningTokens: 'output_tokens_details.reasoning_tokens',
  },
}
