import { Duration } from 'aws-cdk-lib'
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { INDEXES } from '../../lib/dynamodb/schema.ts'
import { NAMESPACE, type OUTCOMES, type UNITS } from '../../lib/metrics.ts'

/** What dashboard and alarms both look at. */
export const PERIOD = Duration.minutes(5)

type RunMetricOptions = {
  outcome?: (typeof OUTCOMES)[number]
  statistic: string
  period?: Duration
  label?: string
}

/** A metric of ended runs, as `lib/metrics.ts` writes them. */
export const runMetric = (
  metricName: keyof typeof UNITS,
  { outcome, period = PERIOD, ...options }: RunMetricOptions,
): Metric =>
  new Metric({
    namespace: NAMESPACE,
    metricName,
    period,
    ...(outcome && { dimensionsMap: { Outcome: outcome } }),
    ...options,
  })

/** Reads or writes that DynamoDB throttled, of the table and of its indexes. */
export function throttledOn(table: Table, kind: 'Read' | 'Write'): MathExpression {
  const of = (dimensionsMap: Record<string, string>) =>
    new Metric({
      namespace: 'AWS/DynamoDB',
      metricName: `${kind}ThrottleEvents`,
      statistic: 'Sum',
      period: PERIOD,
      dimensionsMap: { TableName: table.tableName, ...dimensionsMap },
    })
  const metrics = [{}, ...Object.keys(INDEXES).map((name) => ({ GlobalSecondaryIndexName: name }))].map(of)
  const named = metrics.map((metric, index) => [`${kind.toLowerCase()}s${index}`, metric] as const)
  return sumOf(`${kind}s throttled`, Object.fromEntries(named))
}

/** SQS does not count what it moves to a dead-letter queue, but it does count what is received there or waits. */
export function deadLettersIn(deadLetters: Queue): MathExpression {
  return sumOf('Dead letters', {
    received: deadLetters.metricNumberOfMessagesReceived({ statistic: 'Sum', period: PERIOD }),
    waiting: deadLetters.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum', period: PERIOD }),
  })
}

/** What has no data counts as 0: most of these are silent for as long as all is well. */
function sumOf(label: string, usingMetrics: Record<string, IMetric>): MathExpression {
  const filled = Object.keys(usingMetrics).map((name) => `FILL(${name}, 0)`)
  return new MathExpression({
    expression: `SUM([${filled.join(', ')}])`,
    label,
    period: PERIOD,
    usingMetrics,
  })
}
