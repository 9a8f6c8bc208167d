import type { JsonObject } from '../../core/json.ts'
import type { ModelName, Provider, Reasoning } from '../model-name.ts'

/** Call settings for a reasoning level; empty for `default`. */
export type ReasoningSettings = { providerOptions?: Record<string, JsonObject>; maxOutputTokens?: number }

type Level = Exclude<Reasoning, 'default'>
type ToSettings = (level: Level) => ReasoningSettings
type Family = { models: RegExp; levels: Level[]; toSettings: ToSettings }

/**
 * Budgets for models with a thinking budget. Anthropic requires at least 1,024 tokens. Budget and answer together stay
 * within 32,000 output tokens, the smallest limit of these models.
 */
const THINKING_TOKENS = { none: 0, minimal: 1_024, low: 4_000, medium: 8_000, high: 16_000 }
const ANSWER_TOKENS = 16_000

const EFFORTS: Level[] = ['low', 'medium', 'high']
const ALL: Level[] = ['none', 'minimal', ...EFFORTS]

const noSettings: ToSettings = () => ({})

/** `forceReasoning`: the SDK would omit the effort for models that it does not know. Summaries require a verified account. */
const openaiEffort: ToSettings = (level) => ({
  providerOptions: { openai: { reasoningEffort: level, reasoningSummary: null, forceReasoning: true } },
})

const compatibleEffort: ToSettings = (level) => ({
  providerOptions: { openaiCompatible: { reasoningEffort: level } },
})

const anthropicAdaptive: ToSettings = (level) => ({
  providerOptions: {
    anthropic:
      level === 'none'
        ? { thinking: { type: 'disabled' } }
        : { thinking: { type: 'adaptive' }, effort: level },
  },
})

const anthropicBudget: ToSettings = (level) =>
  level === 'none'
    ? { providerOptions: { anthropic: { thinking: { type: 'disabled' } } } }
    : {
        providerOptions: {
          anthropic: { thinking: { type: 'enabled', budgetTokens: THINKING_TOKENS[level] } },
        },
        maxOutputTokens: ANSWER_TOKENS,
      }

const onBedrock = (reasoningConfig: JsonObject): ReasoningSettings => ({
  providerOptions: { amazonBedrock: { reasoningConfig } },
})

/** The SDK ignores `disabled` on Bedrock, so the request field is set directly. */
const bedrockAdaptive: ToSettings = (level) =>
  level === 'none'
    ? {
        providerOptions: {
          amazonBedrock: { additionalModelRequestFields: { thinking: { type: 'disabled' } } },
        },
      }
    : onBedrock({ type: 'adaptive', maxReasoningEffort: level })

const bedrockBudget: ToSettings = (level) =>
  level === 'none'
    ? {}
    : {
        ...onBedrock({ type: 'enabled', budgetTokens: THINKING_TOKENS[level] }),
        maxOutputTokens: ANSWER_TOKENS,
      }

const bedrockNova: ToSettings = (level) =>
  level === 'none' ? {} : onBedrock({ type: 'enabled', maxReasoningEffort: level })

/** Generations of Claude: without thinking, with a thinking budget, always thinking, and with an effort (also for future models). */
const claude = (budget: ToSettings, adaptive: ToSettings): Family[] => [
  { models: /claude-(instant|v?2|3(?!-7))/, levels: ['none'], toSettings: noSettings },
  {
    models: /claude-(3-7|(opus|sonnet|haiku)-4(-[015]|-20\d{6}|@|$))(?!\d)/,
    levels: ALL,
    toSettings: budget,
  },
  { models: /claude-((sonnet|opus)-5-5|fable-5)/, levels: EFFORTS, toSettings: adaptive },
  { models: /claude-/, levels: ['none', ...EFFORTS], toSettings: adaptive },
]

/**
 * The levels that each model supports; the first matching row applies. Unknown models accept every level that the
 * provider's API can express, and the provider validates it. With `anthropic`, an unknown model is another vendor's
 * model behind an Anthropic-compatible API.
 */
const FAMILIES: Record<Provider, Family[]> = {
  openai: [
    { models: /^(gpt-3|gpt-4|chatgpt-|gpt-5(\.\d+)?-chat)/, levels: ['none'], toSettings: noSettings },
    { models: /^gpt-5-pro/, levels: ['high'], toSettings: openaiEffort },
    { models: /^gpt-5\.\d+-pro/, levels: ['medium', 'high'], toSettings: openaiEffort },
    { models: /^(o\d|gpt-5(\.\d+)?-codex)/, levels: EFFORTS, toSettings: openaiEffort },
    { models: /^gpt-5(?!\.)/, levels: ['minimal', ...EFFORTS], toSettings: openaiEffort },
    { models: /^(gpt-5\.|gpt-6-(sol|luna))/, levels: ['none', ...EFFORTS], toSettings: openaiEffort },
    { models: /^gpt-6/, levels: EFFORTS, toSettings: openaiEffort },
    { models: /./, levels: ALL, toSettings: openaiEffort },
  ],
  'openai-compatible': [{ models: /./, levels: ALL, toSettings: compatibleEffort }],
  anthropic: [
    ...claude(anthropicBudget, anthropicAdaptive),
    { models: /./, levels: ALL, toSettings: anthropicBudget },
  ],
  bedrock: [
    ...claude(bedrockBudget, bedrockAdaptive),
    { models: /amazon\.nova-2-/, levels: ['none', ...EFFORTS], toSettings: bedrockNova },
    { models: /openai\./, levels: EFFORTS, toSettings: (level) => onBedrock({ maxReasoningEffort: level }) },
    {
      models: /amazon\.(titan|nova-(micro|lite|pro|premier))|meta\.llama3|cohere\.|ai21\./,
      levels: ['none'],
      toSettings: noSettings,
    },
  ],
}

const findFamily = ({ provider, model }: ModelName) =>
  FAMILIES[provider].find(({ models }) => models.test(model))

/** Always includes `default`. */
export function getSupportedLevels(name: ModelName): Reasoning[] {
  return ['default', ...(findFamily(name)?.levels ?? [])]
}

/** The settings for a supported level. */
export function toReasoningSettings(name: ModelName): ReasoningSettings {
  const { reasoning } = name
  return reasoning === 'default' ? {} : (findFamily(name)?.toSettings(reasoning) ?? {})
}
