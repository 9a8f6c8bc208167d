import type { Execution, LeasedExecution } from './execution.ts'
import type { ExecutionError } from './execution-errors.ts'
import type { JsonObject } from './json/json.ts'
import { type Lease, leaseTimes } from './lease-times.ts'
import { NO_USAGE } from './model-usage.ts'
import type { Wait } from './wait.ts'

/** What most executions do not have. */
const DEFAULTS = {
  idempotencyId: null,
  cache: null,
  inputAdaptations: [],
  sharesWorker: false,
  tokenId: null,
  isDraft: false,
  webhookUrl: null,
  batch: null,
  schedule: null,
  limits: [],
  replay: null,
  selectedBy: 'CURRENT',
  learnedFrom: null,
  traceparent: null,
  watchedUntil: null,
  keys: [],
  scored: null,
  scores: [],
} satisfies Partial<Execution>

export type NewExecution = Pick<
  Execution,
  'id' | 'organizationId' | 'agentId' | 'versionId' | 'tenantId' | 'input' | 'options'
> &
  Partial<Pick<Execution, keyof typeof DEFAULTS>> & {
    now: number
    deadlineMs: number
    lease: Lease | null
    /** When the sweeper first checks it: how long it may wait for its first claim, and longer than a lease. */
    graceMs?: number
    /** Present for a tool call of another execution. */
    parent?: { executionId: string; callers: string[] }
  }

/** An accepted execution: leased by the caller (synchronous) or waiting for a worker (asynchronous). */
export function newExecution(params: NewExecution & { lease: Lease }): LeasedExecution
export function newExecution(params: NewExecution): Execution
export function newExecution(params: NewExecution): Execution {
  const { now, deadlineMs, lease, graceMs = leaseTimes().graceMs, parent, ...given } = params
  const createdAt = new Date(now).toISOString()
  return {
    ...DEFAULTS,
    ...given,
    ...(given.replay?.isTrial && { cache: null }),
    source: sourceOf(params),
    parentExecutionId: parent?.executionId ?? null,
    callers: parent?.callers ?? [],
    status: 'IN_PROGRESS',
    output: null,
    error: null,
    cached: false,
    cachedExecutionId: null,
    createdAt,
    startedAt: lease ? createdAt : null,
    finishedAt: null,
    steps: 0,
    usage: NO_USAGE,
    model: null,
    warnings: [],
    feedback: null,
    attempts: lease ? 1 : 0,
    attemptsSinceProgress: lease ? 1 : 0,
    outages: 0,
    lostSteps: [],
    lostUsage: null,
    childUsage: null,
    judgement: null,
    replayedUsage: null,
    lastError: null,
    lease,
    suspension: null,
    waitedMs: 0,
    workedMs: 0,
    pendingEvents: [],
    callbackSecret: null,
    openUntil: now + graceMs,
    deadlineAt: now + deadlineMs,
    logs: null,
  }
}

function sourceOf({ scored, parent, replay, batch, schedule }: NewExecution): Execution['source'] {
  if (scored && !scored.isCallee) return 'SCORE'
  if (parent) return 'AGENT'
  return replay?.isTrial ? 'TRIAL' : batch ? 'BATCH' : schedule ? 'SCHEDULE' : 'API'
}

/** An execution that is final at creation because it reuses the result of another one. */
export function cachedExecution(
  params: Omit<NewExecution, 'lease'>,
  cachedExecutionId: string,
  output: JsonObject,
): Execution {
  const execution = newExecution({ ...params, lease: null })
  const times = { startedAt: execution.createdAt, finishedAt: execution.createdAt, openUntil: null }
  // The run that computed the result may have been scored.
  return { ...execution, ...times, status: 'SUCCESS', output, cached: true, cachedExecutionId, scores: [] }
}

/**
 * An accepted execution that waits for its turn, because one of its limits permits no more. It is not in progress, and
 * its deadline does not begin before.
 */
export function queuedExecution(params: Omit<NewExecution, 'lease'>, maxWaitMs: number): Execution {
  const execution = newExecution({ ...params, lease: null })
  const { createdAt: since } = execution
  const until = params.now + maxWaitMs
  const waits: Wait[] = [{ kind: 'limit', name: 'maxOpenExecutions', since, until: null }]
  return {
    ...execution,
    suspension: { at: params.now, until, waits },
    deadlineAt: until + params.deadlineMs,
  }
}

/** An execution that is final at creation because it cannot be run. */
export function failedExecution(params: Omit<NewExecution, 'lease'>, error: ExecutionError): Execution {
  const execution = newExecution({ ...params, lease: null })
  return { ...execution, finishedAt: execution.createdAt, openUntil: null, status: 'ERROR', error }
}
