import { CANCELLED, type Execution, isFinal } from './core/execution.ts'
import type { ExecutionStore } from './core/ports.ts'
import { type Environment, METRICS } from './environment.ts'

export const NAMESPACE = 'AgentExecutionService'

/** Metrics of ended executions, by name. Each is there as a whole, and by the dimension `Outcome`. */
export const UNITS = {
  Runs: 'Count',
  /** From the moment it was accepted, its wait in the queue included. */
  DurationMs: 'Milliseconds',
  Steps: 'Count',
  InputTokens: 'Count',
  OutputTokens: 'Count',
  /** 1 or 0, and absent for a run that asked for no cached result: its average is the hit ratio. */
  CacheHits: 'Count',
} as const

/** A run that a client cancelled is in ERROR, but nobody has to look into it. */
export const OUTCOMES = ['SUCCESS', 'ERROR', 'CANCELLED'] as const
type MetricOutcome = (typeof OUTCOMES)[number]

type Options = { environment?: Environment; write?: (line: string) => void }

/**
 * The store that also writes a line of metrics for every execution that it ends, where the environment has
 * `METRICS=on`; else the store itself. A line may be missing when the answer to a write was lost.
 */
export function measured(
  executions: ExecutionStore,
  { environment = process.env, write = writeLine }: Options = {},
): ExecutionStore {
  if (environment[METRICS] !== 'on') return executions
  const noted = <T extends Execution | null>(ended: T): T => {
    if (ended && isFinal(ended)) write(metricsLine(ended))
    return ended
  }
  return {
    ...executions,
    async create(params) {
      const isNew = await executions.create(params)
      if (isNew) noted(params.execution)
      return isNew
    },
    finish: async (params) => noted(await executions.finish(params)),
    end: async (params) => noted(await executions.end(params)),
  }
}

/** Not through `console`: Lambda makes JSON of what goes there, in which CloudWatch finds no metrics. */
function writeLine(line: string): void {
  process.stdout.write(`${line}\n`)
}

/**
 * An ended execution in the embedded metric format, from which CloudWatch makes metrics. Ids, outcome and numbers: never
 * what was sent, returned or said.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function metricsLine(execution: Execution): string {
  const { id, organizationId, agentId, createdAt, error, steps, usage } = execution
  const finishedAt = Date.parse(execution.finishedAt ?? createdAt)
  const values: Partial<Record<keyof typeof UNITS, number>> = {
    Runs: 1,
    DurationMs: Math.max(finishedAt - Date.parse(createdAt), 0),
    Steps: steps,
    InputTokens: usage.inputTokens,
    OutputTokens: usage.outputTokens,
    ...(execution.cache && { CacheHits: execution.cached ? 1 : 0 }),
  }
  const names = Object.keys(values) as (keyof typeof UNITS)[]
  const outcome = outcomeOf(execution)
  return JSON.stringify({
    _aws: {
      Timestamp: finishedAt,
      CloudWatchMetrics: [
        {
          Namespace: NAMESPACE,
          Dimensions: [[], ['Outcome']],
          Metrics: names.map((name) => ({ Name: name, Unit: UNITS[name] })),
        },
      ],
    },
    Outcome: outcome,
    ...values,
    executionId: id,
    organizationId,
    agentId,
    ...(error && { errorCode: error.code }),
  })
}

function outcomeOf({ status, error }: Execution): MetricOutcome {
  if (status === 'SUCCESS') return 'SUCCESS'
  return error?.code === CANCELLED.code ? 'CANCELLED' : 'ERROR'
}
