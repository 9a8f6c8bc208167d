import type { EmbeddingModelV4, LanguageModelV4 } from '@ai-sdk/provider'
import type { Json, JsonObject } from '../../core/json/json.ts'
import type { ModelStopReason, WebSearch } from '../../core/model.ts'
import type { Environment } from '../../environment.ts'
import type { StrictRules } from '../requests/strict-parts.ts'

/** The model providers, by the prefix of the names of their models. */
export const PROVIDERS = ['bedrock', 'anthropic', 'openai', 'openai-compatible'] as const
export type Provider = (typeof PROVIDERS)[number]

/** `default` sends no level: the provider decides. */
export const REASONING_LEVELS = [
  'none',
  'default',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] as const
export type Reasoning = (typeof REASONING_LEVELS)[number]

export type Level = Exclude<Reasoning, 'default'>
export const EFFORTS: Level[] = ['low', 'medium', 'high']
export const BUDGET_LEVELS: Level[] = ['none', 'minimal', 'low', 'medium', 'high']
export const LOW_TO_MAX: Level[] = ['low', 'medium', 'high', 'xhigh', 'max']
export const NONE_TO_MAX: Level[] = ['none', 'low', 'medium', 'high', 'xhigh', 'max']
export const ALL_LEVELS: Level[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Models with the same levels of reasoning. Without `toOptions`, no level needs an option. */
export type ReasoningFamily = { models: RegExp; levels: Level[]; toOptions?: (level: Level) => CallOptions }

/** `options`: options of the provider's package. */
export type CallOptions = { options?: JsonObject; maxOutputTokens?: number }

/**
 * What only some models of a provider can do. `forcedTool`: be forced to call a tool. `json`: constrain a text by a
 * schema. `images`: read images in tool results; `inputImages`, `inputPdfs`: files in the message of a user.
 * `cachePoints`: accept marks for prompt caching. `strictTools`: `strict` for tools. `structured`: native structured
 * output. `reasoning`: get their reasoning back. `webSearch`: have the
 * provider search the web. `temperature`: accept one, unless they reason.
 */
export type Capability =
  | 'forcedTool'
  | 'json'
  | 'images'
  | 'inputImages'
  | 'inputPdfs'
  | 'cachePoints'
  | 'strictTools'
  | 'structured'
  | 'reasoning'
  | 'webSearch'
  | 'temperature'

/** How the streams of a provider, as the SDK reads them, differ from those of others. */
export type StreamTraits = {
  /** The input of a call is sent a field at a time: nothing arrives while the model writes a long one. */
  buffersInputs?: boolean
}

export type WebSearchTraits = {
  /** The tool of the provider's package, and the options of a request with it. */
  toTool(search: WebSearch): { id: `${string}.${string}`; args: JsonObject; options?: JsonObject }
  /** Whether it supports `blockedDomains`. */
  blocksDomains?: boolean
  /** Begins the ids of its calls. */
  callPrefix: string
  /** The text that stands for a search in the history; `open` returns a model that sends the search in its place. */
  toText?(callId: string, result: Json): string
}

/** A model provider: everything that the service knows about it. */
export type ProviderTraits = {
  /** Names of environment variables. */
  variables: {
    baseUrl: string
    required: string[]
    /** Their values must not appear in messages. */
    secrets: string[]
    /** The API key, if a stack can read it from an SSM parameter. */
    apiKey?: string
    /** An integer: the output limit of models whose document sets none, with its default. */
    outputLimit?: { name: string; default: number }
  }
  /** Credentials that are missing although all required variables are set. */
  findProblem?(environment: Environment): string | undefined
  /** Whether models other than fine-tuned ones (`ft:`) have a colon in their name. */
  hasColons: boolean
  /** The provider in the prices of `@pydantic/genai-prices`. */
  priceSource?: string

  /**
   * Opens a model of the AI SDK; imports the provider's package on demand. All settings are passed explicitly, empty if
   * missing, because the packages would otherwise read `process.env`.
   */
  open(model: string, settings: OpenSettings): Promise<LanguageModelV4>
  /** The same for an embedding model, if the provider has any. */
  openEmbedding?(model: string, settings: OpenSettings): Promise<EmbeddingModelV4>
  /** What the package calls its options and metadata. */
  optionsKey: string
  /** Options of every request. */
  options?: JsonObject
  /** The first matching row applies; a model that matches none supports only `default`. */
  reasoning: ReasoningFamily[]
  /** The models with a capability; none if it is absent. */
  models: Partial<Record<Capability, RegExp>>

  /** The most output tokens of a response, also of a request without a limit. The first matching row applies. */
  outputLimits?: { models: RegExp; tokens: number }[]

  /** The option that asks to cache what precedes a message. */
  cachePoint?: JsonObject
  /** The option for a key that is the same for all requests with the same beginning. */
  cacheKey?: string
  /** Of schemas that models with `strictTools` or `structured` enforce. */
  strict?: StrictRules
  /** Tools are strict unless the request says otherwise. */
  isStrictByDefault?: boolean
  /** Searches of the web that the provider executes. */
  webSearch?: WebSearchTraits
  /** Precedes the text of a failed tool result; `open` returns a model that removes it. */
  errorMark?: string
  /** Tool results are texts: images follow in a message of the user. */
  hasTextResults?: boolean
  /** The option of a message without reasoning, in a conversation that has some. */
  noReasoning?: JsonObject

  stream?: StreamTraits
  /** Paths of counts in the reported usage. The SDK returns 0 for most counts that a provider does not report. */
  usage: Partial<Record<'cachedInputTokens' | 'cacheWriteTokens' | 'reasoningTokens', string>>
  /** Reasons to stop that the SDK reports as others. */
  stopReasons?: Record<string, ModelStopReason>
}

/** `variable`: the value of an environment variable, empty if missing. */
export type OpenSettings = {
  baseURL: string
  variable: (name: string) => string
  fetch: typeof fetch
}
