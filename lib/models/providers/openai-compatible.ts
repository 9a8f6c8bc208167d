import { ALL_LEVELS, type ProviderTraits } from './provider-traits.ts'

const BASE_URL = 'OPENAI_COMPATIBLE_BASE_URL'
const API_KEY = 'OPENAI_COMPATIBLE_API_KEY'

/** Servers of open models and gateways: Ollama, vLLM, LM Studio, llama.cpp. They have no known price. */
export const openaiCompatible: ProviderTraits = {
  title: 'OpenAI-compatible',
  variables: {
    baseUrl: BASE_URL,
    required: [BASE_URL],
    secrets: [API_KEY],
    // Small models, in particular, may never stop: without a limit 4 of 16 runs with SmolLM2-135M did not.
    outputLimit: { name: 'OPENAI_COMPATIBLE_MAX_OUTPUT_TOKENS', default: 2_000 },
  },
  hasColons: true,

  async open(model, { baseURL, variable, fetch }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    const apiKey = variable(API_KEY)
    return createOpenAICompatible({
      name: 'openai-compatible',
      baseURL,
      ...(apiKey && { apiKey }),
      includeUsage: true,
      supportsStructuredOutputs: true,
      fetch,
    })(model)
  },
  optionsKey: 'openaiCompatible',
  // In strict mode, a server accepts only schemas without optional fields; the result is validated here anyway.
  options: { strictJsonSchema: false },
  reasoning: [
    { models: /./, levels: ALL_LEVELS, toOptions: (level) => ({ options: { reasoningEffort: level } }) },
  ],
  models: {
    // These servers constrain text by a schema more often than they support tools; for those that do not, see `open-model.ts`.
    json: /./,
    // DeepSeek and Kimi reject a history with tool calls unless their reasoning is sent back as `reasoning_content`. Other servers
    // ignore this member, or reject it like Groq and Mistral.
    reasoning: /deepseek|kimi/i,
  },

  // Once a conversation has reasoning, DeepSeek requires it with every tool call, if only as an empty text.
  noReasoning: { reasoning_content: '' },
  stream: {
    readRefusal: ({ choices }) => choices?.[0]?.delta?.refusal,
  },
  usage: {
    cachedInputTokens: 'prompt_tokens_details.cached_tokens',
    reasoningTokens: 'completion_tokens_details.reasoning_tokens',
  },
}
