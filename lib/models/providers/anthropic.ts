import {
  BUDGET_LEVELS,
  type CallOptions,
  type Level,
  LOW_TO_MAX,
  NONE_TO_MAX,
  type ProviderTraits,
} from './provider-traits.ts'

/** Generations of Claude, at Anthropic and on Bedrock. The last pattern includes future models. */
export const CLAUDE_WITHOUT_THINKING = /claude-(instant|v?2|3(?!-7))/
export const CLAUDE_WITH_BUDGET = /claude-(3-7|(opus|sonnet|haiku)-4(-[015]|-20\d{6}|@|$))(?!\d)/
export const CLAUDE_WITHOUT_XHIGH = /claude-(opus|sonnet)-4-6(?!\d)/
export const CLAUDE_ALWAYS_THINKING = /claude-((sonnet|opus)-5-5|fable-5)/
export const CLAUDE = /claude-/

/** https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations */
export const CLAUDE_STRICT = {
  keywords: [],
  formats: ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
  limits: { tools: 20, unions: 16, optional: 24 },
}

/** https://platform.claude.com/docs/en/about-claude/models/overview */
export const CLAUDE_OUTPUT_LIMITS = [
  { models: /claude-3-haiku/, tokens: 4_096 },
  { models: /claude-opus-4(-[01]|-20\d{6}|@|$)(?!\d)/, tokens: 32_000 },
  { models: /claude-((sonnet|opus|haiku)-4-5|sonnet-4(-0|-20\d{6}|@|$))(?!\d)/, tokens: 64_000 },
  { models: /claude-[a-z]+-([4-9]|\d\d)(?!\d)/, tokens: 128_000 },
]

/**
 * Budgets for models with a thinking budget. Anthropic requires at least 1,024 tokens. Budget and answer together stay
 * within 32,000 output tokens, the smallest limit of these models. Only an endpoint can have the last two levels.
 */
const THINKING_TOKENS = {
  minimal: 1_024,
  low: 4_000,
  medium: 8_000,
  high: 16_000,
  xhigh: 32_000,
  max: 48_000,
}
const ANSWER_TOKENS = 16_000

const DISABLED = { thinking: { type: 'disabled' } }

/** The options of Anthropic's package, for models with an effort and for those with a thinking budget. */
const toEffort = (level: Level): CallOptions => ({
  options: level === 'none' ? DISABLED : { thinking: { type: 'adaptive' }, effort: level },
})
const toBudget = (level: Level): CallOptions =>
  level === 'none'
    ? { options: DISABLED }
    : {
        options: { thinking: { type: 'enabled', budgetTokens: THINKING_TOKENS[level] } },
        maxOutputTokens: ANSWER_TOKENS,
      }

/** Those of the package for Bedrock, which ignores `disabled`: the request field is set directly. */
export const toBedrockEffort = (level: Level): CallOptions => ({
  options:
    level === 'none'
      ? { additionalModelRequestFields: DISABLED }
      : { reasoningConfig: { type: 'adaptive', maxReasoningEffort: level } },
})
export const toBedrockBudget = (level: Level): CallOptions =>
  level === 'none'
    ? {}
    : {
        options: { reasoningConfig: { type: 'enabled', budgetTokens: THINKING_TOKENS[level] } },
        maxOutputTokens: ANSWER_TOKENS,
      }

/** Those for which the SDK asks Anthropic to enforce a schema. Others get it as it is declared. */
const CLAUDE_STRUCTURED = /claude-(opus-4-[15-9]|(sonnet|haiku)-4-[5-9]|[a-z]+-[5-9])(?!\d)/

export const ANTHROPIC = {
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
} satisfies ProviderTraits
