import { Duration, Stack } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { ENQUEUE_FAILURES } from '../../lib/metrics.ts'
import { getFunctionSettings } from '../functions/function-settings.ts'
import type { Functions } from '../functions/functions.ts'
import {
  AUTHORIZER_ERRORS,
  deadLetterMetric,
  PERIOD,
  type ServiceMetrics,
  serviceMetrics,
  THROTTLED_REQUESTS,
} from './metrics.ts'

export type MonitoredResources = {
  /** Of the service. */
  name: string
  api: RestApi
  table: Table
  queue: Queue
  deadLetterQueue: Queue
  functions: Functions
}

/** Its name is the heading of its runbook entry in `docs/runbooks.md`. */
type AlarmDefinition = Pick<AlarmProps, 'metric'> &
  Partial<AlarmProps> & {
    name: string
    description: string | ((threshold: number) => string)
    /** Whether a release that raises it is undone (`deployment`). What clients and agents cause must not be. */
    endsRelease?: boolean
  }

/** `forReleases`: those that undo a release. CodeDeploy accepts at most ten. */
export type Alarms = { all: Alarm[]; forReleases: Alarm[] }

/** Creates the alarms. Unless its definition says otherwise, an alarm is raised when its metric is above 0. */
export function createAlarms(
  scope: Construct,
  { alarmEmail, ...resources }: MonitoredResources & { alarmEmail: string | null },
): Alarms {
  const action = alarmEmail && new SnsAction(createAlarmTopic(scope, alarmEmail))
  const alarms: Alarms = { all: [], forReleases: [] }
  for (const definition of listAlarms(resources)) {
    const { name, description, threshold = 0, endsRelease, ...props } = definition
    const alarm = new Alarm(scope, `${name}Alarm`, {
      alarmName: `${resources.name}-${name}`,
      alarmDescription: `${typeof description === 'string' ? description : description(threshold)} See docs/runbooks.md.`,
      evaluationPeriods: 1,
      threshold,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...props,
    })
    if (action) {
      alarm.addAlarmAction(action)
      alarm.addOkAction(action)
    }
    alarms.all.push(alarm)
    if (endsRelease) alarms.forReleases.push(alarm)
  }
  return alarms
}

/** A message stays in the queue while its execution runs. Beyond the maximum run time of a runner, messages wait. */
const MAX_QUEUE_WAIT = Duration.minutes(5)

/**
 * Alarms on what clients experience first, then on what delays or ends executions. Their causes are graphs of the
 * dashboard: CloudWatch charges for every metric of an alarm.
 */
function listAlarms({ name, api, queue, deadLetterQueue, functions }: MonitoredResources): AlarmDefinition[] {
  const metrics = serviceMetrics(name)
  const { countMetric } = metrics
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
      metric: metrics.readLatency,
      // Most reads take a hundredth of it.
      threshold: 1_000,
      // The slowest of a few requests is their p99, so one cold start must not raise the alarm.
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
      description: 'Asynchronous executions wait too long in the queue.',
      metric: queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', period: PERIOD }),
      threshold: runnerTimeout + MAX_QUEUE_WAIT.toSeconds(),
    },
    {
      name: 'RunnerErrors',
      description: 'Runners crash, time out or run out of memory.',
      metric: functions['process-execution'].function.metricErrors(sum),
      endsRelease: true,
    },
    {
      name: 'DeadLetters',
      description: 'Messages of executions exceeded maxReceiveCount.',
      metric: deadLetterMetric(deadLetterQueue),
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
      name: 'ExecutionErrorRate',
      description: (percent) => `More than ${percent} % of executions end in ERROR.`,
      metric: executionErrorRate(metrics),
      threshold: 20,
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

/**
 * The topic requires TLS. That policy replaces the default one, which lets alarms of the account publish, so the topic
 * allows it explicitly. It is not encrypted: alarms cannot publish with the AWS managed key of SNS, and notifications
 * contain only a metric and a number.
 */
function createAlarmTopic(scope: Construct, email: string): Topic {
  const topic = new Topic(scope, 'AlarmTopic', { enforceSSL: true })
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  )
  topic.addSubscription(new EmailSubscription(email))
  return topic
}
