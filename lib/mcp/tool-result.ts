import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Violation } from '../core/errors.ts'
import type { Execution } from '../core/execution.ts'
import type { JsonObject } from '../core/json.ts'
import type { PendingRun } from './agent-tools.ts'

/** A result as structured content, and as text for clients that do not read it. */
export function toResult(value: object, meta?: Record<string, unknown>): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(value) }],
    structuredContent: value as JsonObject,
    ...(meta && { _meta: meta }),
  }
}

/** An error that the model can act on. */
export function toToolError(text: string, meta?: Record<string, unknown>): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true, ...(meta && { _meta: meta }) }
}

/** The result of a call of an agent: its output, its error, or where to find them later. */
export function toRunResult(execution: Execution): CallToolResult {
  const { id: executionId, status, output, error, cachedExecutionId } = execution
  const meta = {
    executionId,
    ...(cachedExecutionId && { cachedDocumentExecutionId: cachedExecutionId }),
  }
  if (status === 'SUCCESS') return toResult(output ?? {}, meta)
  if (status === 'IN_PROGRESS') return toPendingResult(executionId)
  const { code = 'Unknown', message = 'No reason was recorded.' } = error ?? {}
  return toToolError(`The run ended in ERROR ${code}: ${message} (execution ${executionId})`, meta)
}

function toPendingResult(executionId: string): CallToolResult {
  const pending: PendingRun = { executionId, status: 'IN_PROGRESS' }
  const text = `The run continues. Call get_execution with {"executionId":"${executionId}","waitSeconds":20} for its output.`
  return {
    content: [{ type: 'text', text }],
    structuredContent: pending,
    _meta: { executionId },
  }
}

/** One line per violation, with the path of the field. */
export const describeViolations = (errors: Violation[]): string =>
  errors.map(({ path, message }) => `${path || '/'}: ${message}`).join('\n')
