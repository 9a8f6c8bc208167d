import { Duration } from 'aws-cdk-lib'
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway'
import { type IMetric, MathExpression, Metric, type MetricProps } from 'aws-cdk-lib/aws-cloudwatch'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { INDEXES } from '../../lib/dynamodb/table/schema.ts'
import {
  DAILY_COST,
  OUTBOX_AGE,
  type OUTCOMES,
  REPEATED_ATTEMPTS,
  SERVER_ERRORS,
  type UNITS,
  USUAL_DAILY_COST,
} from '../../lib/metrics.ts'
import type { ServiceFunction } from '../functions/functions.ts'
import type { Queues } from '../storage.ts'

/** The period of all metrics on the dashboard and in alarms, unless they set another one. */
export const PERIOD = Duration.minutes(5)

/** Metrics that `metric-filters.ts` derives from logs. */
export const AUTHORIZER_ERRORS = 'AuthorizerErrors'
export const THROTTLED_REQUESTS = 'ThrottledRequests'
export const READ_LATENCY = 'ReadLatencyMs'
export const RUN_OVERHEAD = 'RunOverheadMs'
export const START_DELAY = 'StartDelayMs'
/** The memory of an invocation of a function that runs agents. CloudWatch has no metric of it. */
export const MEMORY_USED = 'MemoryUsedMb'

type MetricOptions = { statistic: string; period?: Duration; label?: string }

type OutcomeOptions = MetricOptions & { outcome?: (typeof OUTCOMES)[number] }

/** With fewer in the period, a single error of an API with little traffic would be a high rate. */
const MIN_SERVER_ERRORS = 3

/** In US dollars. What costs less on an average day counts as this much, so that a few runs raise no alarm. */
const MIN_USUAL_COST = 10

/**
 * The metrics that a service emits or derives from its logs.
 * @param namespace the name of the service, `METRICS_NAMESPACE` of its functions
 */
export function serviceMetrics(namespace: string) {
  const createMetric = (metricName: string, options: MetricOptions & Pick<MetricProps, 'dimensionsMap'>) =>
    new Metric({ namespace, metricName, period: PERIOD, ...options })

  /** The sum of a metric that has no dimensions. */
  const countMetric = (metricName: string, label?: string) =>
    createMetric(metricName, { statistic: 'Sum', ...(label && { label }) })

  const dailyCost = createMetric(DAILY_COST, { statistic: 'Maximum', label: 'last 24 hours' })
  const usualDailyCost = createMetric(USUAL_DAILY_COST, {
    statistic: 'Maximum',
    label: 'average day of the week before',
  })
  return {
    countMetric,
    /** A metric that `lib/metrics.ts` emits for completed executions. */
    executionMetric: (metricName: keyof typeof UNITS, { outcome, ...options }: OutcomeOptions) =>
      createMetric(metricName, { ...options, ...(outcome && { dimensionsMap: { Outcome: outcome } }) }),
    repeatedAttempts: createMetric(REPEATED_ATTEMPTS, {
      statistic: 'Maximum',
      label: 'attempts of a run without progress, maximum',
    }),
    outboxAge: createMetric(OUTBOX_AGE, { statistic: 'Maximum', label: 'oldest event not handled (s)' }),
    dailyCost,
    usualDailyCost,
    /**
     * What the last 24 hours cost, in percent of an average day of the week before. No data while that is not known: a
     * sum needs all of its terms, a condition does not.
     */
    costGrowth: new MathExpression({
      expression: `100 * cost / IF(usual > ${MIN_USUAL_COST}, usual, ${MIN_USUAL_COST}) + 0 * usual`,
      label: 'Cost of the last 24 hours, percent of the usual one',
      period: PERIOD,
      usingMetrics: { cost: dailyCost, usual: usualDailyCost },
    }),
    memoryUsed: createMetric(MEMORY_USED, { statistic: 'Maximum', label: 'maximum' }),
    /** One in a hundred takes longer than this, in milliseconds. */
    latencyMetric: (metricName: string, what: string) =>
      createMetric(metricName, { statistic: 'p99', label: `${what} p99 (ms)` }),
    /** Percentage of requests that fail because of the service: `InternalError`, `Unavailable`, 5xx of API Gateway. */
    serverErrorRate: (api: SpecRestApi) =>
      new MathExpression({
        expression: `IF(errors >= ${MIN_SERVER_ERRORS}, 100 * errors / requests, 0)`,
        label: 'Server errors, percent',
        period: PERIOD,
        usingMetrics: {
          errors: countMetric(SERVER_ERRORS),
          requests: api.metricCount({ statistic: 'Sum', period: PERIOD }),
        },
      }),
  }
}

export type ServiceMetrics = ReturnType<typeof serviceMetrics>

/** Throttled reads or writes of the table itself. */
export const throttleMetric = (table: ITable, kind: 'Read' | 'Write') =>
  throttleEvents(table, kind, { label: `${kind}s of the table` })

/** Throttled reads or writes of all indexes. Each is a metric: an alarm may have ten. */
export function indexThrottleMetric(table: ITable, kind: 'Read' | 'Write'): MathExpression {
  const metrics = Object.keys(INDEXES).map((name, index) => [
    `${kind.toLowerCase()}s${index}`,
    throttleEvents(table, kind, { dimensions: { GlobalSecondaryIndexName: name } }),
  ])
  return sumMetrics(`${kind}s of indexes`, Object.fromEntries(metrics))
}

type ThrottleOptions = { label?: string; dimensions?: Record<string, string> }

const throttleEvents = (table: ITable, kind: 'Read' | 'Write', { label, dimensions }: ThrottleOptions) =>
  new Metric({
    namespace: 'AWS/DynamoDB',
    metricName: `${kind}ThrottleEvents`,
    statistic: 'Sum',
    period: PERIOD,
    dimensionsMap: { TableName: table.tableName, ...dimensions },
    ...(label && { label }),
  })

/**
 * The share of the concurrency without reservations that all functions of the account in the region use, in percent.
 * `ClaimedAccountConcurrency` is what they use of it and everything that is reserved.
 * https://docs.aws.amazon.com/lambda/latest/dg/monitoring-concurrency.html
 */
export function unreservedConcurrencyMetric(): MathExpression {
  const metricOf = (metricName: string) =>
    new Metric({ namespace: 'AWS/Lambda', metricName, statistic: 'Maximum', period: PERIOD })
  return new MathExpression({
    expression: '100 * unreserved / (SERVICE_QUOTA(concurrent) - claimed + unreserved)',
    label: 'Unreserved concurrency in use, percent',
    period: PERIOD,
    usingMetrics: {
      unreserved: metricOf('UnreservedConcurrentExecutions'),
      claimed: metricOf('ClaimedAccountConcurrency'),
      concurrent: metricOf('ConcurrentExecutions'),
    },
  })
}

/**
 * The age of the oldest message of the two run queues, in seconds; of quiet groups: without the organizations that have
 * more than their share of the messages in flight.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
 */
export function queueAgeMetric({ queue, modelQueue }: Queues, groups: 'all' | 'quiet' = 'all') {
  const ageOf = (of: Queue) =>
    of.metric(`ApproximateAgeOfOldestMessage${groups === 'quiet' ? 'InQuietGroups' : ''}`, {
      statistic: 'Maximum',
      period: PERIOD,
    })
  return new MathExpression({
    expression: `MAX([FILL(${groups}Runs, 0), FILL(${groups}ModelRuns, 0)])`,
    label: `${groups} organizations`,
    period: PERIOD,
    usingMetrics: { [`${groups}Runs`]: ageOf(queue), [`${groups}ModelRuns`]: ageOf(modelQueue) },
  })
}

/** Failed invocations of the runners, which are two with managed instances. */
export function runnerErrorsMetric(runner: ServiceFunction, modelRunner: ServiceFunction): IMetric {
  const errorsOf = (of: ServiceFunction) => of.function.metricErrors({ statistic: 'Sum', period: PERIOD })
  if (runner === modelRunner) return errorsOf(runner)
  return sumMetrics('Errors of runners', { runner: errorsOf(runner), modelRunner: errorsOf(modelRunner) })
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
