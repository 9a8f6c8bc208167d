import { Duration } from 'aws-cdk-lib'
import type { SpecRestApi } from 'aws-cdk-lib/aws-apigateway'
import {
  type AlarmProps,
  ComparisonOperator,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { ENQUEUE_FAILURES, LOST_TRACES, LOW_SCORES } from '../../lib/metrics.ts'
import { getFunctionSettings } from '../functions/function-settings.ts'
import type { Functions, ServiceFunction } from '../functions/functions.ts'
import type { Queues } from '../storage.ts'
import {
  AUTHORIZER_ERRORS,
  deadLetterMetric,
  indexThrottleMetric,
  PERIOD,
  queueAgeMetric,
  READ_LATENCY,
  RUN_OVERHEAD,
  runnerErrorsMetric,
  type ServiceMetrics,
  START_DELAY,
  serviceMetrics,
  THROTTLED_REQUESTS,
  unreservedConcurrencyMetric,
} from './metrics.ts'

export type MonitoredResources = {
  /** Of the service. */
  name: string
  api: SpecRestApi
  table: ITable
  functions: Functions
  modelRunner: ServiceFunction
  /** Whether traces are sent. */
  hasTraces: boolean
} & Queues

/** Its name is the heading of its runbook entry in `docs/operations.md`. */
type AlarmDefinition = Pick<AlarmProps, 'metric'> &
  Partial<AlarmProps> & {
    name: string
    description: string | ((threshold: number) => string)
    /** Whether a release that raises it is undone (`deployment`). What clients and agents cause must not be. */
    endsRelease?: boolean
  }

/** A message stays in the queue while its execution runs. Beyond the maximum run time of a runner, messages wait. */
const MAX_QUEUE_WAIT = Duration.minutes(5)
/** SQS delivers the messages of quiet groups before those of noisy ones: they wait for one runner to become free. */
const MAX_QUIET_QUEUE_WAIT = Duration.minutes(1)

/**
 * Fewer are those of a partition that DynamoDB splits, or of a steep rise in traffic: the retries of the SDK hide them
 * from clients.
 */
const MAX_INDEX_THROTTLES = 100

/**
 * Alarms on what clients experience first, then on what delays or ends executions. Their causes are graphs of the
 * dashboard: CloudWatch charges for every metric of an alarm.
 */
export function listAlarms({
  name,
  api,
  table,
  functions,
  modelRunner,
  hasTraces,
  ...queues
}: MonitoredResources): AlarmDefinition[] {
  const metrics = serviceMetrics(name)
  const { countMetric, latencyMetric } = metrics
  const sum = { statistic: 'Sum', period: PERIOD }
  const runnerTimeout = getFunctionSettings('process-execution').timeoutSeconds
  return [
    {
      name: 'ServerErrorRate',
      description: (percent) => `More than ${percent} % of requests fail because of the service.`,
      metric: metrics.serverErrorRate(api),
      threshold: 1,
      endsRelease: true,
    },
    {
      name: 'ReadLatency',
      description: (ms) => `One in a hundred reads takes longer than ${ms / 1000} s.`,
      metric: latencyMetric(READ_LATENCY, 'reads'),
      // Most reads take a hundredth of it.
      threshold: 1_000,
      // The slowest of a few requests is their p99, so one cold start must not raise the alarm.
      evaluationPeriods: 3,
    },
    {
      name: 'RunLatency',
      description: (ms) => `The service adds more than ${ms / 1000} s to one in a hundred runs.`,
      metric: latencyMetric(RUN_OVERHEAD, 'overhead of runs'),
      // A cold start takes about one second. Most runs take a hundredth of this.
      threshold: 2_000,
      evaluationPeriods: 3,
    },
    {
      name: 'StartDelay',
      description: (ms) =>
        `One in a hundred asynchronous runs starts later than ${ms / 1000} s after its request.`,
      metric: latencyMetric(START_DELAY, 'start of asynchronous runs'),
      // Runners start within a second or two. What takes longer waits for one to become free.
      threshold: 60_000,
      // A burst of requests may wait for a moment.
      evaluationPeriods: 3,
    },
    {
      name: 'AuthorizerErrors',
      description: 'The authorizer fails, so that requests with valid tokens are rejected.',
      metric: countMetric(AUTHORIZER_ERRORS),
      // Clients retry a single one.
      threshold: 2,
      endsRelease: true,
    },
    {
      name: 'ThrottledRequests',
      description: 'Many requests get 429.',
      metric: countMetric(THROTTLED_REQUESTS),
      // Clients are expected to reach limits now and then, and honor Retry-After.
      threshold: 100,
    },
    {
      name: 'EnqueueFailures',
      description: 'SQS does not accept messages of executions.',
      metric: countMetric(ENQUEUE_FAILURES),
      endsRelease: true,
    },
    {
      name: 'QueueAge',
      description: 'Asynchronous executions wait too long in a queue.',
      metric: queueAgeMetric(queues),
      threshold: runnerTimeout + MAX_QUEUE_WAIT.toSeconds(),
    },
    {
      name: 'QuietQueueAge',
      description: 'Asynchronous executions wait although their organizations have few of them.',
      metric: queueAgeMetric(queues, 'quiet'),
      threshold: runnerTimeout + MAX_QUIET_QUEUE_WAIT.toSeconds(),
    },
    {
      name: 'RunnerErrors',
      description: 'Runners crash, time out or run out of memory.',
      metric: runnerErrorsMetric(functions['process-execution'], modelRunner),
      endsRelease: true,
    },
    {
      name: 'DeadLetters',
      description: 'Messages of executions exceeded maxReceiveCount.',
      metric: deadLetterMetric(queues.deadLetterQueue),
    },
    {
      name: 'RepeatedAttempts',
      description: (attempts) =>
        `An execution needs more than ${attempts} attempts without progress, which can be paid for.`,
      metric: metrics.repeatedAttempts,
      // One or two are repeated when a worker dies or a model is unavailable for a moment.
      threshold: 3,
    },
    {
      name: 'OutboxAge',
      description: (seconds) =>
        `For ${seconds / 60} minutes, events of executions have not been sent to their destinations.`,
      metric: metrics.outboxAge,
      // A receiver that fails does not raise it: its delivery is stored as pending, and the event is handled.
      threshold: 900,
      evaluationPeriods: 3,
    },
    ...(hasTraces
      ? [
          {
            name: 'LostTraces',
            description: 'Traces were rejected by their receiver, or could not be sent within 72 hours.',
            metric: countMetric(LOST_TRACES),
          },
        ]
      : []),
    {
      name: 'LowScores',
      description: (scores) =>
        `More than ${scores} production runs have a score below the minimum of a scorer.`,
      metric: countMetric(LOW_SCORES),
      // A few are for the queue of reviews.
      threshold: 10,
    },
    {
      name: 'ExecutionErrorRate',
      description: (percent) => `More than ${percent} % of executions end in ERROR.`,
      metric: executionErrorRate(metrics),
      threshold: 20,
    },
    {
      name: 'CostGrowth',
      description: (percent) =>
        `In 24 hours, runs cost more than ${percent / 100} times as much as on an average day of the week before.`,
      metric: metrics.costGrowth,
      threshold: 200,
    },
    {
      name: 'SweepFailures',
      description: 'Sweeps fail. Executions whose worker dies can hang.',
      metric: functions['sweep-executions'].function.metricErrors(sum),
      endsRelease: true,
    },
    {
      name: 'SweeperNotRunning',
      description: 'The sweeper is not invoked. Executions whose worker dies can hang.',
      metric: functions['sweep-executions'].function.metricInvocations(sum),
      threshold: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
    },
    {
      name: 'FunctionThrottles',
      description: 'Lambda throttles functions of the account in this region.',
      // All functions of an account share its concurrency quota, so that any of them can use it up.
      metric: new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', ...sum }),
    },
    {
      name: 'AccountConcurrency',
      description: (percent) =>
        `Functions use more than ${percent} % of the unreserved concurrency of the account in this region.`,
      metric: unreservedConcurrencyMetric(),
      // A quota increase takes days. Lambda adds up to 1,000 executions of a function within ten seconds.
      threshold: 80,
    },
    ...(['Write', 'Read'] as const).map((kind) => ({
      name: `Index${kind}Throttles`,
      description: `DynamoDB throttles ${kind.toLowerCase()}s of the indexes of the table.`,
      metric: indexThrottleMetric(table, kind),
      threshold: MAX_INDEX_THROTTLES,
    })),
  ]
}

/** With fewer executions in the period, a single failure would raise the alarm. */
const MIN_EXECUTIONS = 20

function executionErrorRate({ executionMetric }: ServiceMetrics): MathExpression {
  const options = { statistic: 'Sum', period: Duration.minutes(15) }
  return new MathExpression({
    expression: `IF(total >= ${MIN_EXECUTIONS}, 100 * FILL(failed, 0) / total, 0)`,
    label: 'Executions in ERROR, percent',
    period: options.period,
    usingMetrics: {
      total: executionMetric('Runs', options),
      failed: executionMetric('Runs', { ...options, outcome: 'ERROR' }),
    },
  })
}
