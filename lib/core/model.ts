import type { ModelSettings } from './agent.ts'
import type { Json, JsonObject } from './json/json.ts'
import type { Media } from './media.ts'
import type { Usage } from './model-usage.ts'
import type { ApprovalRule } from './wait.ts'

/** The tool through which a model returns its output; reserved, so no tool of an agent may use this name. */
export const FINAL_ANSWER = 'final_answer'

/** A search of the web that the provider executes within a response. `maxUses`: searches per response. */
export type WebSearch = { maxUses: number; allowedDomains?: string[]; blockedDomains?: string[] }

/** The name of the tool for it: providers use it for theirs. */
export const WEB_SEARCH = 'web_search'

/**
 * A tool as declared to the model; `inputSchema` is a JSON Schema of an object. With `webSearch`, the provider executes
 * it, and its calls are not calls of the response.
 */
export type ToolDeclaration = {
  name: string
  description: string
  inputSchema: JsonObject
  webSearch?: WebSearch
  /** Not for the model. Absent if no call needs an approval. */
  approval?: ApprovalRule
}

/** Of MCP tools, as their servers declared them: by the name of the tool in the document. */
export type ServedDeclarations = Record<string, ToolDeclaration[]>

/** A tool call requested by a model. `error` is set if the call could not be parsed; it is then not executed. */
export type ToolCall = { id: string; name: string; input: Json; error: string | null }

/**
 * The outcome of a tool call: its result, or the error message for the model. `value` describes each image.
 * `executionId`: the execution of the agent that was called. `usage`: what it used, with the agents that it called.
 * `replayed`: the result was taken from the recording of another run, with what it used there. `isRefused`: no tool got
 * the call.
 */
export type ToolResult = ({ ok: true; value: Json; images?: Media[] } | { ok: false; error: string }) & {
  executionId?: string
  usage?: Usage
  replayed?: { usage?: Usage }
  isRefused?: true
}

/**
 * Why a model stopped, in any provider's format. `length`: at the output limit. `context-window`: the conversation
 * fills it. `refusal`: by the model; `content-filter`: by the provider.
 */
export const STOP_REASONS = [
  'stop',
  'tool-calls',
  'length',
  'context-window',
  'refusal',
  'content-filter',
  'other',
] as const

export type ModelStopReason = (typeof STOP_REASONS)[number]

/** Whether the response lacks its end: neither its calls nor its text can be used. */
export const isTruncated = (reason: ModelStopReason): boolean =>
  reason === 'length' || reason === 'context-window'

export const isRefused = (reason: ModelStopReason): boolean =>
  reason === 'refusal' || reason === 'content-filter'

/**
 * One model response, which is one step. `messages` are plain JSON and are sent back unchanged with the next request.
 * The calls of a truncated or refused response have an error.
 */
export type ModelResponse = {
  messages: Json[]
  text: string
  toolCalls: ToolCall[]
  usage: Usage
  stopReason: ModelStopReason
  /** The provider paused it, in a long search: the next request continues it. */
  isPaused?: true
}

/**
 * How the output is requested. `tool`: the model may call the final-answer tool. `forced-tool`: it has to.
 * `structured`: as a text that the provider constrains by the input schema of the final-answer tool, which then is the
 * only tool. `json`: the same by a server that may not show the schema to the model.
 */
export type AnswerMode = 'tool' | 'forced-tool' | 'structured' | 'json'

/** Whether the output is a text. */
export const isTextMode = (mode: AnswerMode | undefined): boolean => mode === 'structured' || mode === 'json'

/** A file of an input; `path` is a JSON Pointer into it. */
export type InputFile = Media & { path: string }

/** A piece of a response that has just arrived: of its text, or of the arguments of one of its calls. */
export type ResponsePart =
  | { text: string }
  | { toolCall: { id: string; name: string /** A piece of JSON. */; arguments: string } }

export type ModelRequest = {
  instructions: string
  /** The history: results of `userMessage`, `ModelResponse.messages` and `toolMessage`. */
  messages: Json[]
  tools: ToolDeclaration[]
  /** `tool` by default. */
  answerMode?: AnswerMode
  /** Output tokens of the last response to this request, if it was truncated: this one gets twice the output limit. */
  truncatedAfter?: number
  /** What the budget of the run allows; the output limit is not higher. */
  maxOutputTokens?: number
  /** Called with each piece, while the response arrives. Must not throw. */
  onPart?: (part: ResponsePart) => void
  signal: AbortSignal
}

/** A model that returns one response per request and never retries. */
export interface Model {
  /** As recorded: provider, model and, unless default, the reasoning level. */
  name: string
  /** `tool`, and the others that the model supports. */
  answerModes: readonly AnswerMode[]
  /** Settings of the document that the model does not accept, and does not get. */
  ignoredSettings?: (keyof ModelSettings)[]
  /** Tokens of its context window, if the settings say so. */
  contextWindow?: number | undefined
  /** The price in US dollars of what a response used; absent if the model has none. */
  costOf?(usage: Usage): number
  /** @throws ModelError */
  respond(request: ModelRequest): Promise<ModelResponse>
  /** @throws ModelConfigurationError if the model does not accept one of the files */
  userMessage(text: string, files?: readonly InputFile[]): Json
  /**
   * The tool results of one response. Calls with an `error` are omitted: the response's own messages already answer
   * them. Null if none is left; `respond` ignores null messages.
   */
  toolMessage(results: { call: ToolCall; result: ToolResult }[]): Json
}

/**
 * The provider returned no usable response. `isTransient`: the same request may succeed later. `isRefusal`: a content
 * filter rejected the request. `isOverflow`: the request exceeds the context window. `isTooLarge`: the response exceeds
 * the limit of a payload.
 */
export class ModelError extends Error {
  readonly isTransient: boolean
  readonly isRefusal: boolean
  readonly isOverflow: boolean
  readonly isTooLarge: boolean
  /** Nothing listens at the URL, or its host does not exist: waiting for long does not help. */
  readonly isUnreachable: boolean
  /** The provider's Retry-After in milliseconds; null if it sent none. */
  readonly retryAfterMs: number | null
  /** What the response used that arrived and cannot be used; absent if none arrived. */
  usage?: Usage

  constructor(
    message: string,
    options: {
      isTransient: boolean
      isRefusal?: boolean
      isOverflow?: boolean
      isTooLarge?: boolean
      isUnreachable?: boolean
      retryAfterMs?: number | null
      usage?: Usage
      cause?: unknown
    },
  ) {
    super(message, { cause: options.cause })
    this.name = 'ModelError'
    this.isTransient = options.isTransient
    this.isRefusal = options.isRefusal ?? false
    this.isOverflow = options.isOverflow ?? false
    this.isTooLarge = options.isTooLarge ?? false
    this.isUnreachable = options.isUnreachable ?? false
    this.retryAfterMs = options.retryAfterMs ?? null
    if (options.usage) this.usage = options.usage
  }
}

/** The model cannot be used: its name, reasoning level or API key is wrong. Thrown before any request is sent. */
export class ModelConfigurationError extends Error {
  override readonly name = 'ModelConfigurationError'
}
