import { Metrics } from '@aws-lambda-powertools/metrics'
import { CANCELLED, type Execution, isFinal } from './core/execution.ts'
import type { ExecutionStore, QueuedExecution } from './core/ports.ts'
import { type Environment, METRICS } from './environment.ts'

export const NAMESPACE = 'AgentExecutionService'

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

/** Messages that SQS did not accept. Published without a dimension. */
export const ENQUEUE_FAILURES = 'EnqueueFailures'

/** A cancelled execution has the status ERROR, but is not a failure to investigate. */
export const OUTCOMES = ['SUCCESS', 'ERROR', 'CANCELLED'] as const
type MetricOutcome = (typeof OUTCOMES)[number]

/**
 * The store, publishing metrics of every execution that it finishes if the environment has `METRICS=on`. When the response
 * to a write is lost, the metrics of that execution are too.
 */
export function measured(executions: ExecutionStore, environment: Environment = process.env): ExecutionStore {
  if (environment[METRICS] !== 'on') return executions
  const metrics = createMetrics()
  const publish = <T extends Execution | null>(execution: T): T => {
    if (execution && isFinal(execution)) publishMetrics(metrics, execution)
    return execution
  }
  return {
    ...executions,
    async create(params) {
      const isNew = await executions.create(params)
      if (isNew) publish(params.execution)
      return isNew
    },
    finish: async (params) => publish(await executions.finish(params)),
    end: async (params) => publish(await executions.end(params)),
  }
}

/** Counts a message that SQS did not accept, if the environment has `METRICS=on`. */
export function countEnqueueFailure(
  { executionId, organizationId }: Pick<QueuedExecution, 'executionId' | 'organizationId'>,
  environment: Environment = process.env,
): void {
  if (environment[METRICS] !== 'on') return
  const metrics = createMetrics()
  metrics.addMetric(ENQUEUE_FAILURES, 'Count', 1)
  metrics
    .addDimensions({})
    .addMetadata('executionId', executionId)
    .addMetadata('organizationId', organizationId)
  metrics.publishStoredMetrics()
}

/** Powertools adds a dimension `service` to every metric, which would rename the metrics of existing dashboards. */
function createMetrics(): Metrics {
  const metrics = new Metrics({ namespace: NAMESPACE })
  metrics.clearDefaultDimensions()
  return metrics
}

/** Writes one line of the embedded metric format. It has ids, outcome and numbers: no input, output or error message. */
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
  metrics.publishStoredMetrics()
}

function outcomeOf({ status, error }: Execution): MetricOutcome {
  if (status === 'SUCCESS') return 'SUCCESS'
  return error?.code === CANCELLED.code ? 'CANCELLED' : 'ERROR'
}
