import { Duration } from 'aws-cdk-lib'
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { INDEXES } from '../../lib/dynamodb/table/schema.ts'
import { ENQUEUE_FAILURES, NAMESPACE, type OUTCOMES, type UNITS } from '../../lib/metrics.ts'

/** The period of all metrics on the dashboard and in alarms, unless they set another one. */
export const PERIOD = Duration.minutes(5)

type ExecutionMetricOptions = {
  outcome?: (typeof OUTCOMES)[number]
  statistic: string
  period?: Duration
  label?: string
}

/** A metric that `lib/metrics.ts` emits for completed executions. */
export const executionMetric = (
  metricName: keyof typeof UNITS,
  { outcome, period = PERIOD, ...options }: ExecutionMetricOptions,
): Metric =>
  new Metric({
    namespace: NAMESPACE,
    metricName,
    period,
    ...(outcome && { dimensionsMap: { Outcome: outcome } }),
    ...options,
  })

/** Messages that SQS did not accept. */
export const enqueueFailureMetric = (): Metric =>
  new Metric({
    namespace: NAMESPACE,
    metricName: ENQUEUE_FAILURES,
    statistic: 'Sum',
    period: PERIOD,
    label: 'Messages not sent',
  })

/** Throttled reads or writes of the table and its indexes. */
export function throttleMetric(table: Table, kind: 'Read' | 'Write'): MathExpression {
  const createMetric = (dimensions: Record<string, string>) =>
    new Metric({
      namespace: 'AWS/DynamoDB',
      metricName: `${kind}ThrottleEvents`,
      statistic: 'Sum',
      period: PERIOD,
      dimensionsMap: { TableName: table.tableName, ...dimensions },
    })
  const indexes = Object.keys(INDEXES).map((name) => ({ GlobalSecondaryIndexName: name }))
  const metrics = [{}, ...indexes].map(
    (dimensions, index) => [`${kind.toLowerCase()}s${index}`, createMetric(dimensions)] as const,
  )
  return sumMetrics(`${kind}s throttled`, Object.fromEntries(metrics))
}

/** SQS has no metric for messages moved to a dead-letter queue: counts those received from it and those visible in it. */
export function deadLetterMetric(deadLetterQueue: Queue): MathExpression {
  return sumMetrics('Dead letters', {
    received: deadLetterQueue.metricNumberOfMessagesReceived({ statistic: 'Sum', period: PERIOD }),
    visible: deadLetterQueue.metricApproximateNumberOfMessagesVisible({
      statistic: 'Maximum',
      period: PERIOD,
    }),
  })
}

/** Missing data counts as 0: most of these metrics have data only when something is wrong. */
function sumMetrics(label: string, usingMetrics: Record<string, IMetric>): MathExpression {
  const filled = Object.keys(usingMetrics).map((name) => `FILL(${name}, 0)`)
  return new MathExpression({
    expression: `SUM([${filled.join(', ')}])`,
    label,
    period: PERIOD,
    usingMetrics,
  })
}
