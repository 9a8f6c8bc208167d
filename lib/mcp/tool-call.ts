import type { Access } from '../core/access.ts'
import type { Json, JsonObject } from '../core/json.ts'

/** A validated `tools/call` request. */
export type ToolCall = {
  access: Access
  /** Of the tool. */
  name: string
  input: JsonObject
  meta: Json | undefined
  /** Sends a progress notification; absent if the client did not ask for them. */
  onProgress: ((progress: number, message: string) => void) | undefined
  /** Aborts when the client cancels the call. */
  cancelled: AbortSignal
}
