import { Duration } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import {
  type AlarmProps,
  ComparisonOperator,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { ENQUEUE_FAILURES } from '../../lib/metrics.ts'
import { getFunctionSettings } from '../functions/function-settings.ts'
import type { Functions } from '../functions/functions.ts'
import {
  AUTHORIZER_ERRORS,
  countMetric,
  deadLetterMetric,
  executionMetric,
  PERIOD,
  readLatencyMetric,
  repeatedAttemptsMetric,
  serverErrorRate,
  THROTTLED_REQUESTS,
} from './metrics.ts'

export type MonitoredResources = {
  api: RestApi
  table: Table
  queue: Queue
  deadLetterQueue: Queue
  functions: Functions
}

type AlarmDefinition = Pick<
  AlarmProps,
  'metric' | 'threshold' | 'comparisonOperator' | 'treatMissingData'
> & {
  /** The heading of its runbook entry in `docs/runbooks.md`. */
  name: string
  description: string
  evaluationPeriods?: number
}

const MAX_SERVER_ERROR_PERCENT = 1

/** Most reads take a hundredth of it. */
const MAX_READ_LATENCY = Duration.seconds(1)
/** The slowest of a few requests is their p99, so one cold start must not raise the alarm. */
const READ_LATENCY_PERIODS = 3

/** Clients retry a single one. */
const MAX_AUTHORIZER_ERRORS = 2

/** Clients are expected to reach limits now and then, and honor Retry-After. */
const MAX_THROTTLED_REQUESTS = 100

/** A message stays in the queue while its execution runs. Beyond the maximum run time of a runner, messages wait. */
const MAX_QUEUE_WAIT = Duration.minutes(5)

/** One or two are repeated when a worker dies or a model is unavailable for a moment. */
const MAX_REPEATED_ATTEMPTS = 3

const MAX_ERROR_PERCENT = 20
/** With fewer executions in the period, a single failure would raise the alarm. */
const MIN_EXECUTIONS = 20
const ERROR_RATE_PERIOD = Duration.minutes(15)

/**
 * Alarms on what clients experience first, then on what delays or ends executions. Their causes are graphs of the
 * dashboard: CloudWatch charges for every metric of an alarm.
 */
export const alarmDefinitions = (resources: MonitoredResources): AlarmDefinition[] => [
  ...clientAlarms(resources),
  ...executionAlarms(resources),
]

const clientAlarms = ({ api }: MonitoredResources): AlarmDefinition[] => [
  {
    name: 'ServerErrorRate',
    description: `More than ${MAX_SERVER_ERROR_PERCENT} % of requests fail because of the service.`,
    metric: serverErrorRate(api),
    threshold: MAX_SERVER_ERROR_PERCENT,
  },
  {
    name: 'ReadLatency',
    description: `One in a hundred reads takes longer than ${MAX_READ_LATENCY.toSeconds()} s.`,
    metric: readLatencyMetric('p99'),
    threshold: MAX_READ_LATENCY.toMilliseconds(),
    evaluationPeriods: READ_LATENCY_PERIODS,
  },
  {
    name: 'AuthorizerErrors',
    description: 'The authorizer fails, so that requests with valid tokens are rejected.',
    metric: countMetric(AUTHORIZER_ERRORS),
    threshold: MAX_AUTHORIZER_ERRORS,
  },
  {
    name: 'ThrottledRequests',
    description: 'Many requests get 429.',
    metric: countMetric(THROTTLED_REQUESTS),
    threshold: MAX_THROTTLED_REQUESTS,
  },
]

function executionAlarms({ queue, deadLetterQueue, functions }: MonitoredResources): AlarmDefinition[] {
  const sum = { statistic: 'Sum', period: PERIOD }
  const runnerTimeout = getFunctionSettings('process-execution').timeoutSeconds
  return [
    {
      name: 'EnqueueFailures',
      description: 'SQS does not accept messages of executions.',
      metric: countMetric(ENQUEUE_FAILURES),
      threshold: 0,
    },
    {
      name: 'QueueAge',
      description: 'Asynchronous executions wait too long in the queue.',
      metric: queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', period: PERIOD }),
      threshold: runnerTimeout + MAX_QUEUE_WAIT.toSeconds(),
    },
    {
      name: 'RunnerErrors',
      description: 'Runners crash, time out or run out of memory.',
      metric: functions['process-execution'].metricErrors(sum),
      threshold: 0,
    },
    {
      name: 'DeadLetters',
      description: 'Messages of executions exceeded maxReceiveCount.',
      metric: deadLetterMetric(deadLetterQueue),
      threshold: 0,
    },
    {
      name: 'RepeatedAttempts',
      description: `An execution needs more than ${MAX_REPEATED_ATTEMPTS} attempts without progress, which can be paid for.`,
      metric: repeatedAttemptsMetric(),
      threshold: MAX_REPEATED_ATTEMPTS,
    },
    {
      name: 'ExecutionErrorRate',
      description: `More than ${MAX_ERROR_PERCENT} % of executions end in ERROR.`,
      metric: executionErrorRate(),
      threshold: MAX_ERROR_PERCENT,
    },
    {
      name: 'SweepFailures',
      description: 'Sweeps fail. Executions whose worker dies can hang.',
      metric: functions['sweep-executions'].metricErrors(sum),
      threshold: 0,
    },
    {
      name: 'SweeperNotRunning',
      description: 'The sweeper is not invoked. Executions whose worker dies can hang.',
      metric: functions['sweep-executions'].metricInvocations(sum),
      threshold: 1,
      comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.BREACHING,
    },
    {
      name: 'FunctionThrottles',
      description: 'Lambda throttles functions of the account in this region.',
      // All functions of an account share its concurrency quota, so that any of them can use it up.
      metric: new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', ...sum }),
      threshold: 0,
    },
  ]
}

function executionErrorRate(): MathExpression {
  const options = { statistic: 'Sum', period: ERROR_RATE_PERIOD }
  return new MathExpression({
    expression: `IF(total >= ${MIN_EXECUTIONS}, 100 * FILL(failed, 0) / total, 0)`,
    label: 'Executions in ERROR, percent',
    period: ERROR_RATE_PERIOD,
    usingMetrics: {
      total: executionMetric('Runs', options),
      failed: executionMetric('Runs', { ...options, outcome: 'ERROR' }),
    },
  })
}
