import { OPENAI_STRICT } from './openai.ts'
import { ALL_LEVELS, type OpenSettings, type ProviderTraits } from './provider-traits.ts'

async function loadCompatible({ baseURL, variable, fetch }: OpenSettings) {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const apiKey = variable('OPENAI_COMPATIBLE_API_KEY')
  return createOpenAICompatible({
    name: 'openai-compatible',
    baseURL,
    ...(apiKey && { apiKey }),
    includeUsage: true,
    supportsStructuredOutputs: true,
    fetch,
  })
}

/** Servers of open models and gateways: Ollama, vLLM, LM Studio, llama.cpp. They have no known price. */
export const OPENAI_COMPATIBLE = {
  variables: {
    baseUrl: 'OPENAI_COMPATIBLE_BASE_URL',
    required: ['OPENAI_COMPATIBLE_BASE_URL'],
    secrets: ['OPENAI_COMPATIBLE_API_KEY'],
    // Small models, in particular, may never stop: without a limit 4 of 16 runs with SmolLM2-135M did not.
    outputLimit: { name: 'OPENAI_COMPATIBLE_MAX_OUTPUT_TOKENS', default: 2_000 },
  },
  hasColons: true,

  async open(model, settings) {
    const { readChat } = await import('../frames/chat-frames.ts')
    return (await loadCompatible({ ...settings, fetch: readChat(settings.fetch) }))(model)
  },
  openEmbedding: async (model, settings) => (await loadCompatible(settings)).embeddingModel(model),
  optionsKey: 'openaiCompatible',
  // In strict mode, a server accepts only schemas without optional fields; the result is validated here anyway.
  options: { strictJsonSchema: false },
  reasoning: [
    { models: /./, levels: ALL_LEVELS, toOptions: (level) => ({ options: { reasoningEffort: level } }) },
  ],
  models: {
    // These servers constrain text by a schema more often than they support tools; for those that do not, see
    // `open-model.ts`.
    json: /./,
    images:
      /vl(?![a-z])|vision|multimodal|llava|moondream|pixtral|minicpm-v|glm-[\d.]+v|gemma-?3(?![:-]1b)|llama-?4|mistral-(small-?3\.[1-9]|medium|large-?3)|gemini|claude-|gpt-(4o|4\.1|[5-9])|grok-4/i,
    // A server with a model that cannot read them rejects the request.
    inputImages: /./,
    inputPdfs: /./,
    // DeepSeek and Kimi reject a history with tool calls unless their reasoning is sent back as `reasoning_content`,
    // and GLM continues from it. Other servers ignore this member, or reject it like Groq and Mistral.
    temperature: /./,
    reasoning: /deepseek|kimi|glm-[4-9]/i,
  },

  strict: OPENAI_STRICT,
  hasTextResults: true,
  // Once a conversation has reasoning, DeepSeek requires it with every tool call, if only as an empty text.
  noReasoning: { reasoning_content: '' },
  usage: {
    cachedInputTokens: 'prompt_tokens_details.cached_tokens',
    reasoningTokens: 'completion_tokens_details.reasoning_tokens',
  },
} satisfies ProviderTraits
