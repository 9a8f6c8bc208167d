import type { CallOptions, Level } from './provider-traits.ts'

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
export const toEffort = (level: Level): CallOptions => ({
  options: level === 'none' ? DISABLED : { thinking: { type: 'adaptive' }, effort: level },
})
export const toBudget = (level: Level): CallOptions =>
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
