import { omitLargeValues } from '../contract/omit-values.ts'
import type { ExecutionRecord } from '../contract/records/execution.ts'
import { toExecutionRecord } from '../contract/records/execution.ts'
import { toSeenRecord } from '../contract/records/seen.ts'
import type { Access } from '../core/access.ts'
import { encodeCursor, type ListPosition } from '../core/cursor.ts'
import { ServiceError } from '../core/errors.ts'
import { type Execution, isFinal } from '../core/execution.ts'
import { inputErrorsOf } from '../core/execution-errors.ts'
import { OPEN_RETRY_AFTER_SECONDS, RETRY_AFTER } from '../core/limits.ts'
import type { SearchedPage } from '../core/ports/system.ts'
import { hasUsedAllSteps } from '../core/run-options.ts'
import { system } from '../system.ts'
import type { HttpResponse } from './event.ts'

type RecordOptions = {
  access: Pick<Access, 'scopes'>
  /** The execution is that of the request, or of an earlier one with the same input. */
  isOwn?: boolean
  /** Optional fields of the record. */
  added?: Pick<ExecutionRecord, 'adaptedInput' | 'requestedOptions'>
  /** The caller may not wait now. */
  isFull?: boolean
  /** Larger values are left out. */
  maxValueBytes?: number | undefined
}

/** What the token may see of the execution record, for polling. */
export function toRecordResponse(
  execution: Execution,
  { access, isOwn, added = {}, isFull = false, maxValueBytes }: RecordOptions,
): HttpResponse {
  const headers = isFinal(execution) ? {} : retryAfter(execution, isFull)
  const record = omitLargeValues({ ...toExecutionRecord(execution), ...added }, maxValueBytes)
  return { status: 200, body: toSeenRecord(record, access, isOwn), headers }
}

/** When to read an execution of this age again, in seconds: the older it is, the later. */
export function retryAfterSeconds(ageSeconds: number): number {
  const { ageShare, minSeconds, maxSeconds } = RETRY_AFTER
  const seconds = Math.floor(Math.max(ageSeconds * ageShare, Math.min(ageSeconds, minSeconds)))
  return Math.min(Math.max(seconds, 1), maxSeconds)
}

function retryAfter({ createdAt }: Execution, isFull: boolean) {
  const seconds = retryAfterSeconds((system.now() - Date.parse(createdAt)) / 1000)
  return { 'Retry-After': String(isFull ? Math.max(seconds, OPEN_RETRY_AFTER_SECONDS) : seconds) }
}

/** The response to an asynchronous run: the record, with 202 unless the execution is already final. */
export function toAcceptedResponse(
  execution: Execution,
  basePath: string,
  reader: Pick<RecordOptions, 'access' | 'isOwn'>,
): HttpResponse {
  const response = toRecordResponse(execution, reader)
  return {
    ...response,
    status: isFinal(execution) ? 200 : 202,
    headers: { ...response.headers, ...toExecutionHeaders(execution, basePath) },
    executionMs: 0,
  }
}

/**
 * The response to a synchronous run: the bare output, or the record of a run that waits.
 * @param options.acceptedAt when its agent began to run for this request, in milliseconds since 1970
 * @param options.isFull the run was handed over early, because its organization has too many open requests
 * @throws ExecutionFailed if the execution ended in ERROR; InputSchemaMismatch if it did because its agent failed on
 * input that does not match the schema; ExecutionStillRunning if it is in progress
 */
export function toOutputResponse(
  execution: Execution,
  basePath: string,
  { access, acceptedAt, isFull }: { access: Access; acceptedAt: number; isFull: boolean },
): HttpResponse {
  const headers = toExecutionHeaders(execution, basePath)
  if (execution.status === 'SUCCESS') {
    const finishedAt = Date.parse(execution.finishedAt ?? execution.createdAt)
    // It can have ended before this request.
    const executionMs = Math.max(finishedAt - acceptedAt, 0)
    return { status: 200, body: execution.output, headers, executionMs }
  }
  if (execution.suspension) return toAcceptedResponse(execution, basePath, { access, isOwn: true })
  const executionId = execution.id
  if (execution.status === 'IN_PROGRESS') {
    const detail = 'The execution continues. Poll it at the URL in the Location header.'
    throw new ServiceError('ExecutionStillRunning', detail, {
      headers: { ...headers, ...retryAfter(execution, isFull) },
      members: { executionId },
    })
  }
  const { error } = execution
  const message = error?.message ?? 'no reason was recorded'
  const members = { executionId, error }
  const errors = error ? inputErrorsOf(error) : []
  if (errors.length > 0) {
    const detail = `The agent failed on input that does not match its schema: ${message}`
    throw new ServiceError('InputSchemaMismatch', detail, { headers, errors, members })
  }
  const detail = `The execution ended in ERROR: ${message}`
  throw new ServiceError('ExecutionFailed', detail, { headers, members })
}

/** Headers of every response to a run. */
export function toExecutionHeaders(execution: Execution, basePath: string): Record<string, string> {
  return {
    'X-Execution-Id': execution.id,
    Location: `${basePath}/v1/agent_executions/${execution.id}`,
    ...(execution.cache && { 'Cache-Status': toCacheStatus(execution) }),
    ...(execution.cachedExecutionId && { 'X-Cached-Document-Execution-Id': execution.cachedExecutionId }),
  }
}

/** RFC 9211. A result is stored once the execution has succeeded, unless the step limit forced it. */
function toCacheStatus(execution: Execution): string {
  if (execution.cached) return 'agent-execution-service; hit'
  const isStored = execution.status === 'SUCCESS' && !hasUsedAllSteps(execution, execution.options)
  return `agent-execution-service; fwd=miss${isStored ? '; stored' : ''}`
}

/**
 * A JSON array. If there are more items, the `Link` header (RFC 8288) points to the next page of the same query. Other
 * headers say how far a search has looked.
 */
export function toPageResponse<T>(
  { items, next, searched }: SearchedPage<T>,
  toRecord: (item: T) => unknown,
  { path, query }: { path: string; query: object },
): HttpResponse {
  const response = { status: 200, body: items.map(toRecord) }
  const headers = {
    ...(next && { Link: `<${path}?${nextQuery(query, next)}>; rel="next"` }),
    ...(searched && { 'X-Searched-Executions': String(searched.executions) }),
    ...(searched?.until && { 'X-Searched-Until': searched.until }),
  }
  return Object.keys(headers).length > 0 ? { ...response, headers } : response
}

function nextQuery(query: object, next: ListPosition): URLSearchParams {
  const parameters = Object.entries({ ...query, cursor: encodeCursor(next) })
  return new URLSearchParams(parameters.filter(([, value]) => value !== undefined))
}
