import { Aws, Duration } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import { type IMetric, MathExpression, Metric, type MetricProps } from 'aws-cdk-lib/aws-cloudwatch'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { INDEXES } from '../../lib/dynamodb/table/schema.ts'
import { type OUTCOMES, REPEATED_ATTEMPTS, SERVER_ERRORS, type UNITS } from '../../lib/metrics.ts'

/** `METRICS_NAMESPACE` of the functions is the same. */
export const NAMESPACE = Aws.STACK_NAME

/** The period of all metrics on the dashboard and in alarms, unless they set another one. */
export const PERIOD = Duration.minutes(5)

/** Metrics that `metric-filters.ts` derives from logs. */
export const AUTHORIZER_ERRORS = 'AuthorizerErrors'
export const THROTTLED_REQUESTS = 'ThrottledRequests'
export const READ_LATENCY = 'ReadLatencyMs'

type MetricOptions = { statistic: string; period?: Duration; label?: string }

/** A metric of the service, in its namespace. */
const createMetric = (
  metricName: string,
  options: MetricOptions & Pick<MetricProps, 'dimensionsMap'>,
): Metric => new Metric({ namespace: NAMESPACE, metricName, period: PERIOD, ...options })

/** A metric that `lib/metrics.ts` emits for completed executions. */
export const executionMetric = (
  metricName: keyof typeof UNITS,
  { outcome, ...options }: MetricOptions & { outcome?: (typeof OUTCOMES)[number] },
) => createMetric(metricName, { ...options, ...(outcome && { dimensionsMap: { Outcome: outcome } }) })

/** The sum of a metric of the service that has no dimensions. */
export const countMetric = (metricName: string, label?: string) =>
  createMetric(metricName, { statistic: 'Sum', ...(label && { label }) })

export const repeatedAttemptsMetric = () =>
  createMetric(REPEATED_ATTEMPTS, {
    statistic: 'Maximum',
    label: 'attempts of a run without progress, maximum',
  })

/** One in a hundred reads takes longer than this, in milliseconds. */
export const readLatencyMetric = () =>
  createMetric(READ_LATENCY, { statistic: 'p99', label: 'reads p99 (ms)' })

/** With fewer in the period, a single error of an API with little traffic would be a high rate. */
const MIN_SERVER_ERRORS = 3

/** Percentage of requests that fail because of the service: `InternalError`, `Unavailable`, 5xx of API Gateway. */
export const serverErrorRate = (api: RestApi): MathExpression =>
  new MathExpression({
    expression: `IF(errors >= ${MIN_SERVER_ERRORS}, 100 * errors / requests, 0)`,
    label: 'Server errors, percent',
    period: PERIOD,
    usingMetrics: {
      errors: countMetric(SERVER_ERRORS),
      requests: api.metricCount({ statistic: 'Sum', period: PERIOD }),
    },
  })

/** Throttled reads or writes of the table and its indexes. */
export function throttleMetric(table: Table, kind: 'Read' | 'Write'): MathExpression {
  const indexes = Object.keys(INDEXES).map((name) => ({ GlobalSecondaryIndexName: name }))
  const metrics = [{}, ...indexes].map((dimensions, index) => [
    `${kind.toLowerCase()}s${index}`,
    new Metric({
      namespace: 'AWS/DynamoDB',
      metricName: `${kind}ThrottleEvents`,
      statistic: 'Sum',
      period: PERIOD,
      dimensionsMap: { TableName: table.tableName, ...dimensions },
    }),
  ])
  return sumMetrics(`${kind}s throttled`, Object.fromEntries(metrics))
}

/** SQS has no metric for messages moved to a dead-letter queue: counts those received from it and visible in it. */
export const deadLetterMetric = (deadLetterQueue: Queue) =>
  sumMetrics('Dead letters', {
    received: deadLetterQueue.metricNumberOfMessagesReceived({ statistic: 'Sum', period: PERIOD }),
    visible: deadLetterQueue.metricApproximateNumberOfMessagesVisible({
      statistic: 'Maximum',
      period: PERIOD,
    }),
  })

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
