import { toExecutionRecord } from '../api/mappers/to-execution-record.ts'
import { ExecutionNotFound, ServiceError } from '../core/errors.ts'
import { type Execution, isFinal } from '../core/execution.ts'
import { isUuid } from '../core/ids.ts'
import { RETRY_AFTER_SECONDS } from '../core/limits.ts'
import type { HttpResponse } from './event.ts'

/** @throws ExecutionNotFound for what no execution can be called */
export function executionIdFrom(segment: string): string {
  if (!isUuid(segment)) throw new ExecutionNotFound()
  return segment.toLowerCase()
}

/** The execution record, as polling reads it. */
export function recordReply(execution: Execution): HttpResponse {
  const headers = isFinal(execution) ? {} : { 'Retry-After': String(RETRY_AFTER_SECONDS) }
  return { status: 200, body: toExecutionRecord(execution), headers }
}

/** What an async call gets: the record, 202 while it has to be polled. */
export function acceptedReply(execution: Execution, basePath: string): HttpResponse {
  const reply = recordReply(execution)
  return {
    ...reply,
    status: isFinal(execution) ? 200 : 202,
    headers: { ...reply.headers, ...whereabouts(execution, basePath) },
  }
}

/**
 * What a sync call gets: the bare output.
 * @throws ExecutionFailed when the run ended in ERROR, ExecutionStillRunning when another worker has it now
 */
export function outputReply(execution: Execution, basePath: string): HttpResponse {
  const headers = whereabouts(execution, basePath)
  if (execution.status === 'SUCCESS') return { status: 200, body: execution.output, headers }
  const executionId = execution.id
  if (execution.status === 'IN_PROGRESS') {
    const detail = 'The run goes on. Poll the execution at the address in the Location header.'
    const retry = { ...headers, 'Retry-After': String(RETRY_AFTER_SECONDS) }
    throw new ServiceError('ExecutionStillRunning', detail, { headers: retry, members: { executionId } })
  }
  const { error } = execution
  const detail = `The execution ended in ERROR: ${error?.message ?? 'no reason is recorded'}`
  throw new ServiceError('ExecutionFailed', detail, { headers, members: { executionId, error } })
}

function whereabouts(execution: Execution, basePath: string): Record<string, string> {
  return {
    'X-Execution-Id': execution.id,
    Location: `${basePath}/v1/agent_executions/${execution.id}`,
    ...(execution.cache && { 'Cache-Status': cacheStatus(execution) }),
    ...(execution.cachedExecutionId && { 'X-Cached-Document-Execution-Id': execution.cachedExecutionId }),
  }
}

/** RFC 9211. What is still running is not stored yet. */
function cacheStatus({ cached, status }: Execution): string {
  if (cached) return 'agent-execution-service; hit'
  return `agent-execution-service; fwd=miss${status === 'SUCCESS' ? '; stored' : ''}`
}
