import { Metrics } from '@aws-lambda-powertools/metrics'
import { type Execution, isFinal } from './core/execution.ts'
import { CANCELLED } from './core/execution-errors.ts'
import type { ExecutionStore } from './core/ports/executions.ts'
import type { QueuedExecution } from './core/ports/queues.ts'
import { type Environment, METRICS_NAMESPACE } from './environment.ts'

/** Metrics of a finished execution. Each is published without a dimension and with the dimension `Outcome`. */
export const UNITS = {
  Runs: 'Count',
  /** From the acceptance of the request, time in the queue included. */
  DurationMs: 'Milliseconds',
  Steps: 'Count',
  InputTokens: 'Count',
  OutputTokens: 'Count',
  /** 1 or 0; absent when the request did not use the cache, so that the average is the hit ratio. */
  CacheHits: 'Count',
} as const

/** Messages that could not be sent to SQS. Without dimensions. */
export const ENQUEUE_FAILURES = 'EnqueueFailures'

/** Requests that ended in `InternalError` or `Unavailable`, and unexpected failures of attempts. Without dimensions. */
export const SERVER_ERRORS = 'ServerErrors'

/** Attempts since the last checkpoint of a run or that lost a step, published from the second on. No dimensions. */
export const REPEATED_ATTEMPTS = 'RepeatedAttempts'

/** Of the oldest event that is not handled, published by sweeps that find one. Without dimensions. */
export const OUTBOX_AGE = 'OutboxAgeSeconds'

/** Traces that their receiver has not accepted within 72 hours, or has rejected. Without dimensions. */
export const LOST_TRACES = 'LostTraces'

/** Scores of production runs below the minimum of their scorer. Without dimensions. */
export const LOW_SCORES = 'LowScores'

/** US dollars: what runs cost in the last 24 full hours, and on an average day of the week before. No dimensions. */
export const DAILY_COST = 'DailyCostUsd'
export const USUAL_DAILY_COST = 'UsualDailyCostUsd'

/** The member of the line of an execution from which a metric filter of the stack derives its metric. */
export const START_DELAY_MS = 'startDelayMs'

/** A cancelled execution has the status ERROR, but is not a failure to investigate. */
export const OUTCOMES = ['SUCCESS', 'ERROR', 'CANCELLED'] as const

/**
 * The store, publishing metrics of every execution that it finishes, and of claims that repeat an attempt, if the
 * environment has a `METRICS_NAMESPACE`. Trials have none. When the response to a write is lost, the metrics of that
 * execution are too.
 */
export function measured(executions: ExecutionStore, environment: Environment = process.env): ExecutionStore {
  const namespace = environment[METRICS_NAMESPACE]
  if (!namespace) return executions
  const metrics = createMetrics(namespace)
  const publish = <T extends Execution | null>(execution: T): T => {
    if (execution && isFinal(execution) && execution.source !== 'TRIAL') publishMetrics(metrics, execution)
    return execution
  }
  return {
    ...executions,
    async create(params) {
      const isNew = await executions.create(params)
      if (isNew) publish(params.execution)
      return isNew
    },
    async claim(params) {
      const claimed = await executions.claim(params)
      if (typeof claimed !== 'string' && claimed.source !== 'TRIAL') countAttempts(claimed, environment)
      return claimed
    },
    finish: async (params) => publish(await executions.finish(params)),
    end: async (params) => publish(await executions.end(params)),
  }
}

type Ids = Pick<QueuedExecution, 'executionId' | 'organizationId'>

/** Counts a message that SQS did not accept. */
export const countEnqueueFailure = (
  { organizationId, executionId }: Partial<Ids> & Pick<Ids, 'organizationId'>,
  environment?: Environment,
) => count(ENQUEUE_FAILURES, { organizationId, ...(executionId && { executionId }) }, environment)

/** Counts a request that the service failed to serve. */
export const countServerError = (
  { requestId, operation, code }: { requestId: string; operation: string; code: string },
  environment?: Environment,
) => count(SERVER_ERRORS, { requestId, operation, errorCode: code }, environment)

/** Counts an attempt that failed because of the service: its request, if any, ends in `ExecutionFailed`. */
export const countFailedAttempt = ({ executionId, organizationId }: Ids) =>
  count(SERVER_ERRORS, { executionId, organizationId, errorCode: 'InternalError' })

/** Counts the trace of a run that will not be sent any more. */
export const countLostTrace = ({ executionId, organizationId }: Ids) =>
  count(LOST_TRACES, { executionId, organizationId })

/** Counts a score that is too low, of this execution. */
export const countLowScore = ({ executionId, organizationId }: Ids) =>
  count(LOW_SCORES, { executionId, organizationId })

/** Records the age of the oldest event of the outbox that is not handled; 0 if there is none. */
export function recordOutboxAge(seconds: number, environment?: Environment): void {
  if (seconds > 0) publishValue(OUTBOX_AGE, 'Seconds', seconds, {}, environment)
}

/** Records what a day costs; reads it only if the environment has a `METRICS_NAMESPACE`. */
export async function recordDailyCost(
  read: () => Promise<{ lastDay: number; usual: number | null } | null>,
  environment: Environment = process.env,
): Promise<void> {
  const cost = environment[METRICS_NAMESPACE] ? await read() : null
  if (!cost) return
  publishValue(DAILY_COST, 'None', cost.lastDay, {}, environment)
  if (cost.usual !== null) publishValue(USUAL_DAILY_COST, 'None', cost.usual, {}, environment)
}

function countAttempts(execution: Execution, environment: Environment): void {
  const { id: executionId, organizationId, attemptsSinceProgress, outages, lostSteps } = execution
  const attempts = Math.max(attemptsSinceProgress + outages, lostSteps.length + 1)
  if (attempts > 1)
    publishValue(REPEATED_ATTEMPTS, 'Count', attempts, { executionId, organizationId }, environment)
}

const count = (name: string, metadata: Record<string, string>, environment?: Environment): void =>
  publishValue(name, 'Count', 1, metadata, environment)

/** Publishes a metric without dimensions, if the environment has a `METRICS_NAMESPACE`. */
function publishValue(
  name: string,
  unit: 'Count' | 'Seconds' | 'None',
  value: number,
  metadata: Record<string, string>,
  environment: Environment = process.env,
): void {
  const namespace = environment[METRICS_NAMESPACE]
  if (!namespace) return
  const metrics = createMetrics(namespace)
  metrics.addMetric(name, unit, value)
  metrics.addDimensions({})
  for (const [key, value] of Object.entries(metadata)) metrics.addMetadata(key, value)
  metrics.publishStoredMetrics()
}

/** Powertools adds a dimension `service` to every metric, which would rename the metrics of existing dashboards. */
function createMetrics(namespace: string): Metrics {
  const metrics = new Metrics({ namespace })
  metrics.clearDefaultDimensions()
  return metrics
}

/** Writes one line of the embedded metric format: ids, outcome and numbers; no input, output or error message. */
function publishMetrics(metrics: Metrics, execution: Execution): void {
  const { id, organizationId, agentId, createdAt, error, steps, usage, cache, cached } = execution
  const finishedAt = Date.parse(execution.finishedAt ?? createdAt)
  const values: Partial<Record<keyof typeof UNITS, number>> = {
    Runs: 1,
    DurationMs: Math.max(finishedAt - Date.parse(createdAt), 0),
    Steps: steps,
    InputTokens: usage.inputTokens,
    OutputTokens: usage.outputTokens,
    ...(cache && { CacheHits: cached ? 1 : 0 }),
  }
  for (const [name, value] of Object.entries(values)) {
    metrics.addMetric(name, UNITS[name as keyof typeof UNITS], value)
  }
  metrics
    .setTimestamp(finishedAt)
    .addDimensions({})
    .addDimensions({ Outcome: outcomeOf(execution) })
    .addMetadata('executionId', id)
    .addMetadata('organizationId', organizationId)
    .addMetadata('agentId', agentId)
  if (error) metrics.addMetadata('errorCode', error.code)
  const startDelayMs = startDelayOf(execution)
  // A filter on numbers does not match text, the only type that Powertools declares.
  if (startDelayMs !== null) metrics.addMetadata(START_DELAY_MS, startDelayMs as never)
  metrics.publishStoredMetrics()
}

/**
 * From the acceptance of an asynchronous execution to the start of its first attempt. Null for others: a synchronous
 * one starts when it is accepted, and one that reuses the result of another waits for that.
 */
function startDelayOf({ createdAt, startedAt, cached }: Execution): number | null {
  if (startedAt === null || startedAt === createdAt || cached) return null
  return Math.max(Date.parse(startedAt) - Date.parse(createdAt), 0)
}

function outcomeOf({ status, error }: Execution): (typeof OUTCOMES)[number] {
  if (status === 'SUCCESS') return 'SUCCESS'
  return error?.code === CANCELLED.code ? 'CANCELLED' : 'ERROR'
}
