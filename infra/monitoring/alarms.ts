import { Duration, Stack } from 'aws-cdk-lib'
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { FUNCTION_NAMES, settingsOf } from '../functions/function-settings.ts'
import type { Functions } from '../functions/functions.ts'
import type { Settings } from '../settings.ts'
import { createAlarmTopic } from './alarm-topic.ts'
import { deadLettersIn, PERIOD, runMetric, throttledOn } from './measurements.ts'

export type Watched = {
  table: Table
  queue: Queue
  deadLetters: Queue
  functions: Functions
  settings: Pick<Settings, 'alarmEmail'>
}

type Watch = {
  /** The title of its article in `docs/operations.md`, behind which a function's name may follow. */
  name: string
  description: string
  metric: IMetric
  /** It is an alarm above this, or below it with `isLeast`. */
  threshold: number
  isLeast?: true
}

/** A run that is at work keeps its message, for as long as a function may run; beyond that, messages wait. */
const MAX_WAIT = Duration.minutes(5)

/** In percent, of so many runs at least: one failure in the night is not an incident. */
const MAX_FAILING = 20
const MIN_RUNS = 20
const FAILING_PERIOD = Duration.minutes(15)

export function createAlarms(scope: Construct, watched: Watched): Alarm[] {
  const { stackName } = Stack.of(scope)
  const { alarmEmail } = watched.settings
  const action = alarmEmail === null ? null : new SnsAction(createAlarmTopic(scope, alarmEmail))
  return watchesOf(watched).map(({ name, description, metric, threshold, isLeast }) => {
    const alarm = new Alarm(scope, `${name}Alarm`, {
      alarmName: `${stackName}-${name}`,
      alarmDescription: `${description} See docs/operations.md.`,
      metric,
      threshold,
      evaluationPeriods: 1,
      comparisonOperator: isLeast
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: isLeast ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    })
    if (action) {
      alarm.addAlarmAction(action)
      alarm.addOkAction(action)
    }
    return alarm
  })
}

function watchesOf({ table, queue, deadLetters, functions }: Watched): Watch[] {
  const sum = { statistic: 'Sum', period: PERIOD }
  const runnerTimeout = settingsOf('process-execution').timeoutSeconds
  return [
    {
      name: 'DeadLetters',
      description: 'Messages of runs were delivered in vain as often as they may be.',
      metric: deadLettersIn(deadLetters),
      threshold: 0,
    },
    {
      name: 'QueueAge',
      description: 'Asynchronous runs wait too long.',
      metric: queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', period: PERIOD }),
      threshold: runnerTimeout + MAX_WAIT.toSeconds(),
    },
    {
      name: 'RunsFailing',
      description: `More than ${MAX_FAILING} % of the runs end in ERROR.`,
      metric: failingShare(),
      threshold: MAX_FAILING,
    },
    {
      name: 'SweeperSilent',
      description: 'The sweeper does not run, so a run whose worker dies may hang.',
      metric: functions['sweep-executions'].metricInvocations(sum),
      threshold: 1,
      isLeast: true,
    },
    {
      name: 'TableReadThrottles',
      description: 'DynamoDB throttles reads.',
      metric: throttledOn(table, 'Read'),
      threshold: 0,
    },
    {
      name: 'TableWriteThrottles',
      description: 'DynamoDB throttles writes.',
      metric: throttledOn(table, 'Write'),
      threshold: 0,
    },
    {
      name: 'FunctionThrottles',
      description: 'Lambda throttles functions of the account in this region.',
      // Concurrency is the account's: whatever uses it up, this service is next.
      metric: new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', ...sum }),
      threshold: 0,
    },
    // The authorizer can refuse a token with 401 only by failing, so its errors are no news.
    ...FUNCTION_NAMES.filter((name) => name !== 'authorize-request').map((name) => ({
      name: `FunctionErrors-${name}`,
      description: `The function ${name} crashes, runs out of time or of memory.`,
      metric: functions[name].metricErrors(sum),
      threshold: 0,
    })),
  ]
}

function failingShare(): MathExpression {
  const options = { statistic: 'Sum', period: FAILING_PERIOD }
  return new MathExpression({
    expression: `IF(runs >= ${MIN_RUNS}, 100 * FILL(failed, 0) / runs, 0)`,
    label: 'Runs in ERROR, percent',
    period: FAILING_PERIOD,
    usingMetrics: {
      runs: runMetric('Runs', options),
      failed: runMetric('Runs', { ...options, outcome: 'ERROR' }),
    },
  })
}
