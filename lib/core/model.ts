import type { Usage } from './execution.ts'
import type { Json, JsonObject } from './json.ts'

/** The tool through which a model gives its output; no tool of a document may have its name. */
export const FINAL_ANSWER = 'final_answer'

/** A tool as a model is told of it; `inputSchema` is a JSON Schema of an object. */
export type ToolDeclaration = { name: string; description: string; inputSchema: JsonObject }

/** A call that a model asks for. `error` is set when the call could not be read: then it is not to be carried out. */
export type ToolCall = { id: string; name: string; input: Json; error: string | null }

/** What came of a call: its result, or what the model is told went wrong. */
export type ToolResult = { ok: true; value: Json } | { ok: false; error: string }

/** One response of a model: one step. `messages` are plain JSON, to be sent back as they are with the next request. */
export type ModelResponse = {
  messages: Json[]
  text: string
  toolCalls: ToolCall[]
  usage: Usage
  finishReason: string
}

export type ModelRequest = {
  instructions: string
  /** The history so far, of `userMessage`, `ModelResponse.messages` and `toolMessage`. */
  messages: Json[]
  tools: ToolDeclaration[]
  signal: AbortSignal
}

/** A model that gives one response a request, and retries nothing by itself. */
export interface Model {
  /** As it goes on the record: provider, model and, unless default, the reasoning level. */
  name: string
  /** @throws ModelError */
  respond(request: ModelRequest): Promise<ModelResponse>
  userMessage(text: string): Json
  /**
   * The results of one response's calls. Calls with an `error` are left out: the response's own messages answer them
   * already. Null when none is left; `respond` passes over a null message.
   */
  toolMessage(results: { call: ToolCall; result: ToolResult }[]): Json
}

/** The provider did not give a response. `isTransient`: the same request may succeed later. */
export class ModelError extends Error {
  readonly isTransient: boolean
  /** Milliseconds that the provider asks to wait; null when it does not say. */
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

/** A model that cannot do what is asked, known before anything is sent: its name, reasoning level or key is wrong. */
export class ModelConfigurationError extends Error {
  override readonly name = 'ModelConfigurationError'
}
