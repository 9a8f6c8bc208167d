import type { ExecutionRecord } from '../../lib/contract/records/execution.ts'
import type { StepRecord } from '../../lib/contract/records/step.ts'
import { VALUE_BYTES } from '../../lib/core/limits.ts'
import { type Page, requestJson, requestPage } from './request.ts'

/** Larger values of a run are loaded on request. */
export const MAX_VALUE_BYTES = 200_000

type RunRequests = { executionId: string; run: Promise<ExecutionRecord>; steps: Promise<Page<StepRecord>> }

export const pathOfRun = (executionId: string) => `/v1/agent_executions/${encodeURIComponent(executionId)}`

export const requestRun = (executionId: string, signal?: AbortSignal): Promise<ExecutionRecord> =>
  requestJson(pathOfRun(executionId), {
    query: { adaptedInput: true, maxValueBytes: MAX_VALUE_BYTES },
    signal,
  })

/** The record without its values: whether it has gone on. @throws ApiError */
export const peekRun = (executionId: string, signal: AbortSignal): Promise<ExecutionRecord> =>
  requestJson(pathOfRun(executionId), { query: { maxValueBytes: VALUE_BYTES.min }, signal })

/** @param query of the page; absent for the first one. @throws ApiError */
export const requestSteps = (
  executionId: string,
  query?: URLSearchParams,
  signal?: AbortSignal,
): Promise<Page<StepRecord>> =>
  requestPage(`${pathOfRun(executionId)}/steps`, {
    query: query ?? { limit: 100, maxValueBytes: MAX_VALUE_BYTES },
    signal,
  })

/** Milliseconds from the first worker to the end. Null for a run that is not final, or that no worker has run. */
export const runTimeOf = ({
  startedAt,
  finishedAt,
}: Pick<ExecutionRecord, 'startedAt' | 'finishedAt'>): number | null =>
  startedAt === null || finishedAt === null
    ? null
    : Math.max(Date.parse(finishedAt) - Date.parse(startedAt), 0)

let begun: RunRequests | null = null

/** Begins the requests of a run's page while its script is being loaded: on a slow network, neither waits. */
export function beginRun(executionId: string): void {
  begun = { executionId, run: requestRun(executionId), steps: requestSteps(executionId) }
  for (const request of [begun.run, begun.steps]) request.catch(() => undefined)
}

/** The requests that were begun, once; null without any. */
export function takeBegun(executionId: string): RunRequests | null {
  const taken = begun?.executionId === executionId ? begun : null
  begun = null
  return taken
}
