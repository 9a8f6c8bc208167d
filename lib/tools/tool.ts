import { sha256 } from '../core/json/hash-json.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import { APPROVAL_TIMEOUT_SECONDS } from '../core/limits.ts'
import type { Media } from '../core/media.ts'
import type { ToolDeclaration, ToolResult } from '../core/model.ts'
import type { ApprovalRule } from '../core/wait.ts'
import { toJsonSchema } from '../schema/field-map.ts'
import type { ToolDocument } from './document/tool-fields.ts'

/** `signal` aborts the call. `traceparent`: of its span; absent if the partner is told none. */
export type CallOptions = { idempotencyKey: string; signal: AbortSignal; traceparent?: string }

/** A tool that a model can call. */
export type Tool = {
  declaration: ToolDeclaration
  timeoutSeconds: number
  /**
   * `input` matches the declared schema. `callTool` masks and truncates the result.
   * @throws ToolError
   */
  call(input: JsonObject, options: CallOptions): Promise<ToolResult>
}

/** The tools of one entry of a document: one tool, or all tools of an MCP server. `warnings` are for the record. */
export type ToolGroup = { tools: Tool[]; warnings?: string[]; close(): Promise<void> }

/** A tool cannot be opened, or a call failed. The message is shown to the model and contains no secrets. */
export class ToolError extends Error {
  readonly isTransient: boolean

  constructor(message: string, options: { isTransient?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'ToolError'
    this.isTransient = options.isTransient ?? false
  }
}

/** The key of a call as tools get it. The id that a model gives to a call is data of any length: it is hashed. */
export const toSentKey = (key: string): string =>
  key.replace(/(?<=^[0-9a-f-]{36}-\d+-)[\s\S]*$/, (callId) => sha256(callId).slice(0, 32))

export const succeeded = (value: Json, images: Media[] = []): ToolResult => ({
  ok: true,
  value,
  ...(images.length > 0 && { images }),
})
export const failed = (error: string): ToolResult => ({ ok: false, error })

/** The JSON Schema `when` of an approval, whose `type` may be omitted. */
export const toWhen = (when: object): JsonObject => ({ type: 'object', ...when })

/** What a document says about approvals of calls of its tools; null if none needs one. */
export function toApprovalRule({ approval, approvalTimeoutSeconds }: ToolDocument): ApprovalRule | null {
  if (!approval) return null
  const { when, notByCaller, show } = approval === true ? {} : approval
  return {
    ...(when && { when: toWhen(when) }),
    ...(notByCaller && { notByCaller }),
    ...(show && { show }),
    timeoutSeconds: approvalTimeoutSeconds ?? APPROVAL_TIMEOUT_SECONDS.default,
  }
}

/** The declaration of a tool whose document has a description and an input. */
export function toDeclaration({ name, description = '', input = {} }: ToolDocument): ToolDeclaration {
  return { name, description, inputSchema: toJsonSchema(input as unknown as JsonObject) }
}

/** A group of one tool that holds no resources. */
export const toGroup = (tool: Tool): ToolGroup => ({ tools: [tool], close: async () => undefined })
