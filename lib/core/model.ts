import type { Usage } from './execution.ts'
import type { Json, JsonObject } from './json.ts'

/** The tool through which a model returns its output; reserved, so no tool of an agent may use this name. */
export const FINAL_ANSWER = 'final_answer'

/** A tool as declared to the model; `inputSchema` is a JSON Schema of an object. */
export type ToolDeclaration = { name: string; description: string; inputSchema: JsonObject }

/** A tool call requested by a model. `error` is set if the call could not be parsed; it is then not executed. */
export type ToolCall = { id: string; name: string; input: Json; error: string | null }

/** An image in the result of a tool; `data` is base64. */
export type ToolImage = { mediaType: string; data: string }

/** The outcome of a tool call: its result, or the error message for the model. `value` describes each image. */
export type ToolResult = { ok: true; value: Json; images?: ToolImage[] } | { ok: false; error: string }

/** One model response, which is one step. `messages` are plain JSON and are sent back unchanged with the next request. */
export type ModelResponse = {
  messages: Json[]
  text: string
  toolCalls: ToolCall[]
  usage: Usage
  finishReason: string
}

export type ModelRequest = {
  instructions: string
  /** The history: results of `userMessage`, `ModelResponse.messages` and `toolMessage`. */
  messages: Json[]
  tools: ToolDeclaration[]
  signal: AbortSignal
}

/** A model that returns one response per request and never retries. */
export interface Model {
  /** As recorded: provider, model and, unless default, the reasoning level. */
  name: string
  /** @throws ModelError */
  respond(request: ModelRequest): Promise<ModelResponse>
  userMessage(text: string): Json
  /**
   * The tool results of one response. Calls with an `error` are omitted: the response's own messages already answer
   * them. Null if none is left; `respond` ignores null messages.
   */
  toolMessage(results: { call: ToolCall; result: ToolResult }[]): Json
}

/** The provider returned no usable response. `isTransient`: the same request may succeed later. */
export class ModelError extends Error {
  readonly isTransient: boolean
  /** The provider's Retry-After in milliseconds; null if it sent none. */
  readonly retryAfterMs: number | null

  constructor(
    message: string,
    options: { isTransient: boolean; retryAfterMs?: number | null; cause?: unknown },
  ) {
    super(message, { cause: options.cause })
    this.name = 'ModelError'
    this.isTransient = options.isTransient
    this.retryAfterMs = options.retryAfterMs ?? null
  }
}

/** The model cannot be used: its name, reasoning level or API key is wrong. Thrown before any request is sent. */
export class ModelConfigurationError extends Error {
  override readonly name = 'ModelConfigurationError'
}
