import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Access } from '../core/access.ts'
import type { AuditSource } from '../core/audit.ts'
import type { Violation } from '../core/errors.ts'
import type { Execution } from '../core/execution.ts'
import type { Json, JsonObject } from '../core/json/json.ts'
import type { AuditStore, OpenRequests, TokenStore } from '../core/ports/access.ts'
import { toWaitingFor } from '../core/wait.ts'
import type { SubmitEngine } from '../engine/submit/accept.ts'
import type { PendingRun } from './agent-tools.ts'
import { describeWaits } from './describe-waits.ts'

/** What calls are answered with. */
export type McpEngine = SubmitEngine & { openRequests: OpenRequests; audit: AuditStore; tokens: TokenStore }

/** A validated `tools/call` request. */
export type ToolCall = {
  access: Access
  source: AuditSource
  /** Of the tool. */
  name: string
  input: JsonObject
  meta: Json | undefined
  /** The header of the HTTP request. One in `meta` has precedence. */
  traceparent: string | undefined
  /** Sends a progress notification; absent if the client did not ask for them. */
  onProgress: ((progress: number, message: string) => void) | undefined
  /** Whether the answer may be a task, which the client then reads. */
  mayGetTask: boolean
  /** Aborts when the client cancels the call. */
  cancelled: AbortSignal
}

/** JSON-RPC error -32602: an unknown tool, or parameters that a model cannot correct. */
export class InvalidParams extends ProtocolError {
  constructor(message: string) {
    super(ProtocolErrorCode.InvalidParams, message)
  }
}

/** The same for a tool that does not exist and for one that the token may not use. */
export class UnknownTool extends InvalidParams {
  /** @param similar a tool that the token may use */
  constructor(name: string, similar?: string) {
    super(`Unknown tool: ${name.slice(0, 128)}${similar === undefined ? '' : `. Did you mean ${similar}?`}`)
  }
}

type Meta = Record<string, unknown>

/** A result as structured content, and as text for clients that do not read it. */
export function toResult(value: object, meta?: Meta, text = JSON.stringify(value)): CallToolResult {
  return {
    content: [{ type: 'text', text }],
    structuredContent: value as JsonObject,
    ...(meta && { _meta: meta }),
  }
}

/** An error that the model can act on. */
export function toToolError(text: string, meta?: Meta): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true, ...(meta && { _meta: meta }) }
}

/** The result of a call of an agent: its output, its error, or where to find them later. */
export function toRunResult(execution: Execution): CallToolResult {
  const { id: executionId, status, output, error, cachedExecutionId } = execution
  const meta = { executionId, ...(cachedExecutionId && { cachedDocumentExecutionId: cachedExecutionId }) }
  if (status === 'SUCCESS') return toResult(output ?? {}, meta)
  if (status === 'IN_PROGRESS') {
    const { suspension } = execution
    const state = suspension ? describeWaits(suspension.waits) : 'The run continues.'
    const text = `${state} Call get_execution with {"executionId":"${executionId}","waitSeconds":20} for its output.`
    const pending: PendingRun = {
      executionId,
      status,
      ...(suspension && { waitingFor: toWaitingFor(suspension.waits) }),
    }
    return toResult(pending, meta, text)
  }
  const { code = 'Unknown', message = 'No reason was recorded.' } = error ?? {}
  return toToolError(`The run ended in ERROR ${code}: ${message} (execution ${executionId})`, meta)
}

/** One line per violation of the input schema, with the path of the field. */
export function toArgumentsError(errors: Violation[]): CallToolResult {
  const lines = errors.map(({ path, message }) => `${path || '/'}: ${message}`)
  return toToolError(['The arguments do not match the input schema.', ...lines].join('\n'))
}
