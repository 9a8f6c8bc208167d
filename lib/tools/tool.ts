import type { Json, JsonObject } from '../core/json.ts'
import type { ToolDeclaration, ToolResult } from '../core/model.ts'
import { toJsonSchema } from '../schema/field-map.ts'
import type { ToolDocument } from './tool-document.ts'

export type CallOptions = { idempotencyKey: string; signal: AbortSignal }

/** One tool as the model sees it. */
export type Tool = {
  declaration: ToolDeclaration
  timeoutSeconds: number
  /**
   * `input` conforms to the declared schema. The result is masked and cut by `openTools`, not here.
   * @throws ToolError
   */
  call(input: JsonObject, options: CallOptions): Promise<ToolResult>
}

/** What one entry of a document comes to: one tool, or all those of an MCP server. */
export type ToolGroup = { tools: Tool[]; close(): Promise<void> }

/** A tool that cannot be used, or whose call failed: the message is written for the model, and holds no secret. */
export class ToolError extends Error {
  readonly isTransient: boolean

  constructor(message: string, options: { isTransient?: boolean; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'ToolError'
    this.isTransient = options.isTransient ?? false
  }
}

export const succeeded = (value: Json): ToolResult => ({ ok: true, value })
export const failed = (error: string): ToolResult => ({ ok: false, error })

/** Of a tool whose document declares it. */
export function declarationOf({ name, description = '', input = {} }: ToolDocument): ToolDeclaration {
  return { name, description, inputSchema: toJsonSchema(input as unknown as JsonObject) }
}

/** The group of one tool that holds nothing open. */
export const single = (tool: Tool): ToolGroup => ({ tools: [tool], close: async () => undefined })
