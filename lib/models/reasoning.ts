import type { JsonObject } from '../core/json.ts'
import type { ModelName, Provider, Reasoning } from './model-name.ts'

/** What a call is given beside its messages; empty for the level `default`. */
export type ReasoningSettings = { providerOptions?: Record<string, JsonObject>; maxOutputTokens?: number }

type Level = Exclude<Reasoning, 'default'>
type Write = (level: Level) => ReasoningSettings
type Family = { models: RegExp; levels: Level[]; write: Write }

/**
 * Thinking tokens where they are bought by number; 1024 is Anthropic's least. Budget and answer together stay within
 * the 32 000 output tokens that the smallest of these models has.
 */
export const THINKING_TOKENS = { none: 0, minimal: 1_024, low: 4_000, medium: 8_000, high: 16_000 }
export const ANSWER_TOKENS = 16_000

const EFFORTS: Level[] = ['low', 'medium', 'high']
const ALL: Level[] = ['none', 'minimal', ...EFFORTS]

const nothing: Write = () => ({})

/** `forceReasoning`: the SDK drops the effort of models that it does not know. Summaries need a verified account. */
const openaiEffort: Write = (level) => ({
  providerOptions: { openai: { reasoningEffort: level, reasoningSummary: null, forceReasoning: true } },
})

const compatibleEffort: Write = (level) => ({
  providerOptions: { openaiCompatible: { reasoningEffort: level } },
})

const anthropicAdaptive: Write = (level) => ({
  providerOptions: {
    anthropic:
      level === 'none'
        ? { thinking: { type: 'disabled' } }
        : { thinking: { type: 'adaptive' }, effort: level },
  },
})

const anthropicBudget: Write = (level) =>
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

/** The SDK sends nothing for `disabled` on Bedrock, so that it is spelled out here. */
const bedrockAdaptive: Write = (level) =>
  level === 'none'
    ? {
        providerOptions: {
          amazonBedrock: { additionalModelRequestFields: { thinking: { type: 'disabled' } } },
        },
      }
    : onBedrock({ type: 'adaptive', maxReasoningEffort: level })

const bedrockBudget: Write = (level) =>
  level === 'none'
    ? {}
    : {
        ...onBedrock({ type: 'enabled', budgetTokens: THINKING_TOKENS[level] }),
        maxOutputTokens: ANSWER_TOKENS,
      }

const bedrockNova: Write = (level) =>
  level === 'none' ? {} : onBedrock({ type: 'enabled', maxReasoningEffort: level })

/** Generations of Claude: no thinking at all, thinking by budget, always thinking, and by effort (also those to come). */
const claude = (budget: Write, adaptive: Write): Family[] => [
  { models: /claude-(instant|v?2|3(?!-7))/, levels: ['none'], write: nothing },
  { models: /claude-(3-7|(opus|sonnet|haiku)-4(-[015]|-20\d{6}|@|$))(?!\d)/, levels: ALL, write: budget },
  { models: /claude-((sonnet|opus)-5-5|fable-5)/, levels: EFFORTS, write: adaptive },
  { models: /claude-/, levels: ['none', ...EFFORTS], write: adaptive },
]

/**
 * The levels that each model takes, by the first row that fits; a name that no row knows takes what its provider's API
 * can express, and the provider judges it. Behind `anthropic` that is another vendor's model with Anthropic's API.
 */
const FAMILIES: Record<Provider, Family[]> = {
  openai: [
    { models: /^(gpt-3|gpt-4|chatgpt-|gpt-5(\.\d+)?-chat)/, levels: ['none'], write: nothing },
    { models: /^gpt-5-pro/, levels: ['high'], write: openaiEffort },
    { models: /^gpt-5\.\d+-pro/, levels: ['medium', 'high'], write: openaiEffort },
    { models: /^(o\d|gpt-5(\.\d+)?-codex)/, levels: EFFORTS, write: openaiEffort },
    { models: /^gpt-5(?!\.)/, levels: ['minimal', ...EFFORTS], write: openaiEffort },
    { models: /^(gpt-5\.|gpt-6-(sol|luna))/, levels: ['none', ...EFFORTS], write: openaiEffort },
    { models: /^gpt-6/, levels: EFFORTS, write: openaiEffort },
    { models: /./, levels: ALL, write: openaiEffort },
  ],
  'openai-compatible': [{ models: /./, levels: ALL, write: compatibleEffort }],
  anthropic: [
    ...claude(anthropicBudget, anthropicAdaptive),
    { models: /./, levels: ALL, write: anthropicBudget },
  ],
  bedrock: [
    ...claude(bedrockBudget, bedrockAdaptive),
    { models: /amazon\.nova-2-/, levels: ['none', ...EFFORTS], write: bedrockNova },
    { models: /openai\./, levels: EFFORTS, write: (level) => onBedrock({ maxReasoningEffort: level }) },
    {
      models: /amazon\.(titan|nova-(micro|lite|pro|premier))|meta\.llama3|cohere\.|ai21\./,
      levels: ['none'],
      write: nothing,
    },
  ],
}

const familyOf = ({ provider, model }: ModelName) =>
  FAMILIES[provider].find(({ models }) => models.test(model))

/** Always with `default`. */
export function supportedLevels(name: ModelName): Reasoning[] {
  return ['default', ...(familyOf(name)?.levels ?? [])]
}

/** What to send for a level that `supportedLevels` has. */
export function reasoningSettings(name: ModelName): ReasoningSettings {
  const { reasoning } = name
  return reasoning === 'default' ? {} : (familyOf(name)?.write(reasoning) ?? {})
}
