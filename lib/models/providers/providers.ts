import {
  ACCESS_KEY_ID,
  BEARER_TOKEN,
  ERROR_MARK,
  findCredentialsProblem,
  loadBedrock,
  openBedrock,
  REGION,
  SECRET_ACCESS_KEY,
  SESSION_TOKEN,
} from './bedrock.ts'
import {
  CLAUDE,
  CLAUDE_ALWAYS_THINKING,
  CLAUDE_OUTPUT_LIMITS,
  CLAUDE_STRICT,
  CLAUDE_WITH_BUDGET,
  CLAUDE_WITHOUT_THINKING,
  CLAUDE_WITHOUT_XHIGH,
  toBedrockBudget,
  toBedrockEffort,
  toBudget,
  toEffort,
} from './claude.ts'
import { toSearchText, withSearches } from './openai-search.ts'
import {
  ALL_LEVELS,
  BUDGET_LEVELS,
  type CallOptions,
  EFFORTS,
  type Level,
  LOW_TO_MAX,
  NONE_TO_MAX,
  type OpenSettings,
  type Provider,
  type ProviderTraits,
} from './provider-traits.ts'

/** Declared there so that what needs only the names does not load the traits. */
export { PROVIDERS, type Provider } from './provider-traits.ts'

export const traitsOf = (provider: Provider): ProviderTraits => TRAITS[provider]

/** `forceReasoning`: the SDK omits the effort for models that it does not know. Summaries need a verified account. */
const toOpenaiEffort = (level: Level): CallOptions => ({
  options: { reasoningEffort: level, reasoningSummary: null, forceReasoning: true },
})

const toBedrockOpenaiEffort = (level: Level): CallOptions => ({
  options: { reasoningConfig: { maxReasoningEffort: level } },
})

/** Those for which the SDK asks Anthropic to enforce a schema. Others get it as it is declared. */
const CLAUDE_STRUCTURED = /claude-(opus-4-[15-9]|(sonnet|haiku)-4-[5-9]|[a-z]+-[5-9])(?!\d)/

/** https://platform.openai.com/docs/guides/structured-outputs#supported-schemas */
const OPENAI_STRICT = {
  keywords: [
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'multipleOf',
    'minItems',
    'maxItems',
  ],
  formats: ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
}

async function loadOpenai({ baseURL, variable, fetch }: OpenSettings) {
  const { createOpenAI } = await import('@ai-sdk/openai')
  const apiKey = variable('OPENAI_API_KEY')
  return createOpenAI({ apiKey, baseURL: baseURL || 'https://api.openai.com/v1', fetch })
}

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

/**
 * Everything that the service knows about each provider. Literals only: esbuild then removes the traits from bundles
 * that use only the names.
 */
export const TRAITS = {
  bedrock: {
    variables: {
      baseUrl: 'BEDROCK_BASE_URL',
      required: [REGION],
      secrets: [ACCESS_KEY_ID, SECRET_ACCESS_KEY, SESSION_TOKEN, BEARER_TOKEN],
    },
    findProblem: findCredentialsProblem,
    hasColons: true,
    priceSource: 'aws',

    open: openBedrock,
    openEmbedding: async (model, settings) => (await loadBedrock(settings)).embeddingModel(model),
    optionsKey: 'amazonBedrock',
    reasoning: [
      { models: CLAUDE_WITHOUT_THINKING, levels: ['none'] },
      { models: CLAUDE_WITH_BUDGET, levels: BUDGET_LEVELS, toOptions: toBedrockBudget },
      { models: CLAUDE_ALWAYS_THINKING, levels: LOW_TO_MAX, toOptions: toBedrockEffort },
      {
        models: CLAUDE_WITHOUT_XHIGH,
        levels: ['none', 'low', 'medium', 'high', 'max'],
        toOptions: toBedrockEffort,
      },
      { models: CLAUDE, levels: NONE_TO_MAX, toOptions: toBedrockEffort },
      {
        models: /amazon\.nova-2-/,
        levels: ['none', 'low', 'medium', 'high'],
        toOptions: (level) =>
          level === 'none'
            ? {}
            : { options: { reasoningConfig: { type: 'enabled', maxReasoningEffort: level } } },
      },
      { models: /openai\.gpt-oss/, levels: EFFORTS, toOptions: toBedrockOpenaiEffort },
      {
        models: /openai\.gpt-5\.[2-5]/,
        levels: ['low', 'medium', 'high', 'xhigh'],
        toOptions: toBedrockOpenaiEffort,
      },
      { models: /openai\./, levels: LOW_TO_MAX, toOptions: toBedrockOpenaiEffort },
      {
        models: /amazon\.(titan|nova-(micro|lite|pro|premier))|meta\.llama3|cohere\.|ai21\./,
        levels: ['none'],
      },
    ],
    outputLimits: CLAUDE_OUTPUT_LIMITS,
    models: {
      // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_SpecificToolChoice.html
      forcedTool: /claude-(?!(sonnet|opus)-5-5|fable-5-1)|amazon\.nova-/,
      images: /claude-(?!instant|v?[12](?!\d))|amazon\.nova-(?!micro|sonic)/,
      // https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html
      inputImages:
        /claude-(?!instant|v?[12](?!\d))|amazon\.nova-(?!micro|sonic)|llama3-2-(11|90)b|llama4|pixtral/,
      inputPdfs: /claude-(?!instant|v?[12](?!\d))|amazon\.nova-(?!micro|sonic)/,
      // Bedrock rejects them for other models.
      // https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
      cachePoints: /claude-(3-7|3-5-(haiku|sonnet-20241022)|[a-z]+-\d)|amazon\.nova-(?!sonic)/,
      strictTools: /claude-(sonnet|opus)-4-[56](?!\d)/,
      // The package says that other Claude models do not always keep to the schema.
      structured: /claude-(sonnet-4-5|opus-4-[56])(?!\d)/,
      reasoning: /./,
      temperature:
        /claude-(3-haiku|(opus|sonnet|haiku)-4(-[0-6]|-20\d{6}|@|$))(?!\d)|^(?!.*(claude-|openai\.(?!gpt-oss)))/,
    },

    strict: CLAUDE_STRICT,
    cachePoint: { cachePoint: { type: 'default' } },
    errorMark: ERROR_MARK,
    // The SDK asks Anthropic for `eager_input_streaming`, which Bedrock does not have.
    stream: { buffersInputs: true },
    usage: { cachedInputTokens: 'cacheReadInputTokens', cacheWriteTokens: 'cacheWriteInputTokens' },
    stopReasons: { model_context_window_exceeded: 'context-window' },
  },

  anthropic: {
    variables: {
      baseUrl: 'ANTHROPIC_BASE_URL',
      required: ['ANTHROPIC_API_KEY'],
      secrets: ['ANTHROPIC_API_KEY'],
      apiKey: 'ANTHROPIC_API_KEY',
    },
    hasColons: false,
    priceSource: 'anthropic',

    async open(model, { baseURL, variable, fetch }) {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      const apiKey = variable('ANTHROPIC_API_KEY')
      const { readMessages } = await import('../frames/message-frames.ts')
      const url = baseURL || 'https://api.anthropic.com/v1'
      return createAnthropic({ apiKey, baseURL: url, fetch: readMessages(fetch) })(model)
    },
    optionsKey: 'anthropic',
    reasoning: [
      { models: CLAUDE_WITHOUT_THINKING, levels: ['none'] },
      { models: CLAUDE_WITH_BUDGET, levels: BUDGET_LEVELS, toOptions: toBudget },
      { models: CLAUDE_ALWAYS_THINKING, levels: LOW_TO_MAX, toOptions: toEffort },
      { models: CLAUDE_WITHOUT_XHIGH, levels: ['none', 'low', 'medium', 'high', 'max'], toOptions: toEffort },
      { models: CLAUDE, levels: NONE_TO_MAX, toOptions: toEffort },
      // Another vendor's model behind an Anthropic-compatible API.
      { models: /./, levels: BUDGET_LEVELS, toOptions: toBudget },
    ],
    outputLimits: CLAUDE_OUTPUT_LIMITS,
    models: {
      forcedTool: /^(?!.*claude-((sonnet|opus)-5-5|fable-5-1))/,
      images: /claude-(?!instant|v?[12](?!\d))/,
      inputImages: /claude-(?!instant|v?[12](?!\d))/,
      inputPdfs: /claude-(?!instant|v?[12](?!\d)|3-(haiku|opus|sonnet))/,
      cachePoints: /./,
      strictTools: CLAUDE_STRUCTURED,
      structured: CLAUDE_STRUCTURED,
      reasoning: /./,
      temperature: /claude-(3-haiku|(opus|sonnet|haiku)-4(-[0-6]|-20\d{6}|@|$))(?!\d)|^(?!.*claude-)/,
      // https://docs.claude.com/en/docs/agents-and-tools/tool-use/web-search-tool#supported-models
      webSearch: /claude-(3-7|3-5-haiku|[a-z]+-\d)/,
    },
    webSearch: {
      // Of later versions, results are filtered by code that Anthropic executes, which is another tool.
      toTool: (search) => ({ id: 'anthropic.web_search_20250305', args: search }),
      blocksDomains: true,
      callPrefix: 'srvtoolu_',
    },

    strict: CLAUDE_STRICT,
    cachePoint: { cacheControl: { type: 'ephemeral' } },
    usage: {
      cachedInputTokens: 'cache_read_input_tokens',
      cacheWriteTokens: 'cache_creation_input_tokens',
      reasoningTokens: 'output_tokens_details.thinking_tokens',
    },
    stopReasons: { refusal: 'refusal', model_context_window_exceeded: 'context-window' },
  },

  openai: {
    variables: {
      baseUrl: 'OPENAI_BASE_URL',
      required: ['OPENAI_API_KEY'],
      secrets: ['OPENAI_API_KEY'],
      apiKey: 'OPENAI_API_KEY',
    },
    hasColons: false,
    priceSource: 'openai',

    async open(model, settings) {
      const { readResponses } = await import('../frames/response-frames.ts')
      return (await loadOpenai({ ...settings, fetch: readResponses(withSearches(settings.fetch)) }))(model)
    },
    openEmbedding: async (model, settings) => (await loadOpenai(settings)).embeddingModel(model),
    optionsKey: 'openai',
    // With storage, OpenAI keeps the conversation and later requests only reference it.
    options: { store: false },
    reasoning: [
      { models: /^(gpt-3|gpt-4|chatgpt-|gpt-5(\.\d+)?-chat)/, levels: ['none'] },
      { models: /^gpt-5-pro/, levels: ['high'], toOptions: toOpenaiEffort },
      { models: /^gpt-5\.\d+-pro/, levels: ['medium', 'high', 'xhigh'], toOptions: toOpenaiEffort },
      { models: /^(o\d|gpt-5(\.1)?-codex(?!-max))/, levels: EFFORTS, toOptions: toOpenaiEffort },
      { models: /^gpt-5\.\d+-codex/, levels: ['low', 'medium', 'high', 'xhigh'], toOptions: toOpenaiEffort },
      { models: /^gpt-5(?!\.)/, levels: ['minimal', 'low', 'medium', 'high'], toOptions: toOpenaiEffort },
      { models: /^gpt-5\.1/, levels: ['none', 'low', 'medium', 'high'], toOptions: toOpenaiEffort },
      {
        models: /^gpt-5\.[2-5]/,
        levels: ['none', 'low', 'medium', 'high', 'xhigh'],
        toOptions: toOpenaiEffort,
      },
      {
        models: /^(gpt-5\.|gpt-6-(sol|luna))/,
        levels: NONE_TO_MAX,
        toOptions: toOpenaiEffort,
      },
      { models: /^gpt-6/, levels: LOW_TO_MAX, toOptions: toOpenaiEffort },
      { models: /./, levels: ALL_LEVELS, toOptions: toOpenaiEffort },
    ],
    models: {
      forcedTool: /./,
      // Since GPT-4o.
      images: /^(ft:)?(gpt-4o|gpt-4\.1|chatgpt-4o|gpt-[5-9]|o1(?!-(mini|preview))|o3(?!-mini)|o4)/,
      inputImages: /^(ft:)?(gpt-4o|gpt-4\.1|chatgpt-4o|gpt-[5-9]|o1(?!-(mini|preview))|o3(?!-mini)|o4)/,
      inputPdfs: /^(ft:)?(gpt-4o|gpt-4\.1|chatgpt-4o|gpt-[5-9]|o1(?!-(mini|preview))|o3(?!-mini)|o4)/,
      strictTools: /./,
      // Since GPT-4o of August 2024.
      structured:
        /^(ft:)?(gpt-4o(?!-2024-05|.*(audio|search|tts|transcribe|realtime))|gpt-4\.1|gpt-[5-9](?!.*chat)|o1(?!-(mini|preview))|o3|o4)(?!.*deep-research)/,
      reasoning: /./,
      temperature: /^(?!o\d|gpt-([6-9]|\d\d)|gpt-5(?!(-chat)))/,
      // https://platform.openai.com/docs/guides/tools-web-search#limitations
      webSearch: /^(gpt-4o(?!-(audio|realtime|transcribe))|gpt-4\.1(?!-nano)|gpt-[5-9]|o3|o4)/,
    },
    webSearch: {
      toTool: ({ maxUses, allowedDomains }) => ({
        id: 'openai.web_search',
        args: allowedDomains ? { filters: { allowedDomains } } : {},
        // Of all tools that OpenAI executes: there is no other one.
        options: { maxToolCalls: maxUses },
      }),
      callPrefix: 'ws_',
      toText: toSearchText,
    },

    strict: OPENAI_STRICT,
    // OpenAI caches by itself, and routes requests with the same key to the same cache.
    cacheKey: 'promptCacheKey',
    isStrictByDefault: true,
    usage: {
      cachedInputTokens: 'input_tokens_details.cached_tokens',
      cacheWriteTokens: 'input_tokens_details.cache_write_tokens',
      reasoningTokens: 'output_tokens_details.reasoning_tokens',
    },
  },

  /** Servers of open models and gateways: Ollama, vLLM, LM Studio, llama.cpp. They have no known price. */
  'openai-compatible': {
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
  },
} satisfies Record<Provider, ProviderTraits>
