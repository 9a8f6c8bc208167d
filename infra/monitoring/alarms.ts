import { Duration, Stack } from 'aws-cdk-lib'
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
import { FUNCTION_NAMES, getFunctionSettings } from '../functions/function-settings.ts'
import type { Functions } from '../functions/functions.ts'
import type { Settings } from '../settings.ts'
import { deadLetterMetric, enqueueFailureMetric, executionMetric, PERIOD, throttleMetric } from './metrics.ts'

export type MonitoredResources = {
  table: Table
  queue: Queue
  deadLetterQueue: Queue
  functions: Functions
}

type AlarmDefinition = Pick<
  AlarmProps,
  'metric' | 'threshold' | 'comparisonOperator' | 'treatMissingData'
> & {
  /** The heading of its runbook entry in `docs/operations.md`, optionally followed by a dash and a function. */
  name: string
  description: string
}

/** A message stays in the queue while its execution runs. Beyond the maximum run time of a runner, messages wait. */
const MAX_QUEUE_WAIT = Duration.minutes(5)

const MAX_ERROR_PERCENT = 20
/** With fewer executions in the period, a single failure would raise the alarm. */
const MIN_EXECUTIONS = 20
const ERROR_RATE_PERIOD = Duration.minutes(15)

export function createAlarms(
  scope: Construct,
  { settings, ...resources }: MonitoredResources & { settings: Pick<Settings, 'alarmEmail'> },
): Alarm[] {
  const { stackName } = Stack.of(scope)
  const action = settings.alarmEmail && new SnsAction(createAlarmTopic(scope, settings.alarmEmail))
  return alarmDefinitions(resources).map(({ name, description, ...definition }) => {
    const alarm = new Alarm(scope, `${name}Alarm`, {
      alarmName: `${stackName}-${name}`,
      alarmDescription: `${description} See docs/operations.md.`,
      evaluationPeriods: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
      ...definition,
    })
    if (action) {
      alarm.addAlarmAction(action)
      alarm.addOkAction(action)
    }
    return alarm
  })
}

function alarmDefinitions({
  table,
  queue,
  deadLetterQueue,
  functions,
}: MonitoredResources): AlarmDefinition[] {
  const sum = { statistic: 'Sum', period: PERIOD }
  const runnerTimeout = getFunctionSettings('process-execution').timeoutSeconds
  return [
    {
      name: 'DeadLetters',
      description: 'Messages of executions exceeded maxReceiveCount.',
      metric: deadLetterMetric(deadLetterQueue),
      threshold: 0,
    },
    {
      name: 'EnqueueFailures',
      description: 'SQS does not accept messages of executions.',
      metric: enqueueFailureMetric(),
      threshold: 0,
    },
    {
      name: 'QueueAge',
      description: 'Asynchronous executions wait too long in the queue.',
      metric: queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', period: PERIOD }),
      threshold: runnerTimeout + MAX_QUEUE_WAIT.toSeconds(),
    },
    {
      name: 'ExecutionErrorRate',
      description: `More than ${MAX_ERROR_PERCENT} % of executions end in ERROR.`,
      metric: errorRate(),
      threshold: MAX_ERROR_PERCENT,
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
      name: 'TableReadThrottles',
      description: 'DynamoDB throttles reads.',
      metric: throttleMetric(table, 'Read'),
      threshold: 0,
    },
    {
      name: 'TableWriteThrottles',
      description: 'DynamoDB throttles writes.',
      metric: throttleMetric(table, 'Write'),
      threshold: 0,
    },
    {
      name: 'FunctionThrottles',
      description: 'Lambda throttles functions of the account in this region.',
      // All functions of an account share its concurrency quota, so that any of them can use it up.
      metric: new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', ...sum }),
      threshold: 0,
    },
    // An authorizer rejects a token with 401 by failing, so its errors are expected.
    ...FUNCTION_NAMES.filter((name) => name !== 'authorize-request').map((name) => ({
      name: `FunctionErrors-${name}`,
      description: `Invocations of ${name} crash, time out or run out of memory.`,
      metric: functions[name].metricErrors(sum),
      threshold: 0,
    })),
  ]
}

function errorRate(): MathExpression {
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
