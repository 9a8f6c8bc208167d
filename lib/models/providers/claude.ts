import { ALL_LEVELS, type CallOptions, EFFORTS, type Level, type ReasoningFamily } from './provider-traits.ts'

/**
 * Budgets for models with a thinking budget. Anthropic requires at least 1,024 tokens. Budget and answer together stay
 * within 32,000 output tokens, the smallest limit of these models.
 */
export const THINKING_TOKENS = { none: 0, minimal: 1_024, low: 4_000, medium: 8_000, high: 16_000 }
export const ANSWER_TOKENS = 16_000

type ToOptions = (level: Level) => CallOptions

/** Generations of Claude: without thinking, with a thinking budget, always thinking, and with an effort (also for future models). */
export const claudeFamilies = (budget: ToOptions, adaptive: ToOptions): ReasoningFamily[] => [
  { models: /claude-(instant|v?2|3(?!-7))/, levels: ['none'] },
  {
    models: /claude-(3-7|(opus|sonnet|haiku)-4(-[015]|-20\d{6}|@|$))(?!\d)/,
    levels: ALL_LEVELS,
    toOptions: budget,
  },
  { models: /claude-((sonnet|opus)-5-5|fable-5)/, levels: EFFORTS, toOptions: adaptive },
  { models: /claude-/, levels: ['none', ...EFFORTS], toOptions: adaptive },
]
