import type { CallToolResult, ElicitRequest } from '@modelcontextprotocol/server'
import type { Execution } from '../core/execution.ts'
import { CANCELLED } from '../core/execution-errors.ts'
import type { Approval } from '../engine/waiting/approvals.ts'
import { retryAfterSeconds } from '../http/responses.ts'
import { describeWaits } from './describe-waits.ts'
import { toElicitation } from './elicitation.ts'
import { type McpEngine, toRunResult } from './tool-call.ts'

/**
 * A `Task` of the extension is an execution, with its ID. `ttlMs`: it expires a time after its end, if at all.
 * https://modelcontextprotocol.github.io/ext-tasks/specification/2026-07-28/tasks.html
 */
type Task = {
  taskId: string
  status: 'working' | 'input_required' | 'completed' | 'cancelled'
  statusMessage?: string
  createdAt: string
  lastUpdatedAt: string
  ttlMs: null
  pollIntervalMs?: number
  inputRequests?: Record<string, ElicitRequest>
  result?: CallToolResult
}

/** A `CreateTaskResult`. The SDK expects `content` in results of calls; other fields are allowed in all results. */
export const toCreatedTask = (engine: McpEngine, execution: Execution): CallToolResult => ({
  resultType: 'task',
  ...toOpenTask(engine, execution),
  content: [],
})

/**
 * "The `tasks/get` endpoint returns exactly what the underlying request would have returned": also its `resultType`,
 * which the client of the extension requires.
 * @param approvals on which the reader can decide
 */
export function toTask(engine: McpEngine, execution: Execution, approvals: Approval[]): Task {
  const { id: taskId, status, error, createdAt } = execution
  if (status === 'IN_PROGRESS') return toOpenTask(engine, execution, approvals)
  const task = { taskId, createdAt, lastUpdatedAt: execution.finishedAt ?? createdAt, ttlMs: null }
  if (error?.code === CANCELLED.code) return { ...task, status: 'cancelled', statusMessage: error.message }
  return { ...task, status: 'completed', result: { resultType: 'complete', ...toRunResult(execution) } }
}

function toOpenTask(
  { system }: McpEngine,
  { id, createdAt, suspension }: Execution,
  approvals: Approval[] = [],
): Task {
  const now = system.now()
  const requests = approvals.map((approval) => [approval.id, toElicitation(approval)])
  return {
    taskId: id,
    status: requests.length > 0 ? 'input_required' : 'working',
    statusMessage: suspension ? describeWaits(suspension.waits) : 'The run continues.',
    createdAt,
    // What happens in a run that does not wait is not part of its record.
    lastUpdatedAt: new Date(suspension?.at ?? now).toISOString(),
    ttlMs: null,
    pollIntervalMs: retryAfterSeconds((now - (suspension?.at ?? Date.parse(createdAt))) / 1000) * 1000,
    ...(requests.length > 0 && { inputRequests: Object.fromEntries(requests) }),
  }
}
