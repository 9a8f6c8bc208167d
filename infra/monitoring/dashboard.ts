import { Stack } from 'aws-cdk-lib'
import type { RestApi } from 'aws-cdk-lib/aws-apigateway'
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  MathExpression,
} from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'
import { OUTCOMES } from '../../lib/metrics.ts'
import { FUNCTION_NAMES } from '../functions/function-settings.ts'
import type { Watched } from './alarms.ts'
import { deadLettersIn, PERIOD, runMetric, throttledOn } from './measurements.ts'

type Shown = Omit<Watched, 'settings'> & { api: RestApi; alarms: Alarm[] }

const WHOLE_WIDTH = 24

/** What the service does, on one page: runs, queue, functions, API and table. */
export function createDashboard(scope: Construct, shown: Shown): void {
  const { stackName, region } = Stack.of(scope)
  // Dashboards are of all regions.
  const dashboard = new Dashboard(scope, 'Dashboard', { dashboardName: `${stackName}-${region}` })
  const { alarms } = shown
  dashboard.addWidgets(new AlarmStatusWidget({ title: 'Alarms', alarms, width: WHOLE_WIDTH, height: 4 }))
  for (const row of [runs(), work(), waiting(shown), functions(shown), edges(shown)])
    dashboard.addWidgets(...row)
}

const row = (...graphs: [title: string, left: IMetric[], right?: IMetric[]][]): IWidget[] =>
  graphs.map(
    ([title, left, right = []]) =>
      new GraphWidget({
        title,
        left,
        right,
        width: WHOLE_WIDTH / graphs.length,
        leftYAxis: { min: 0 },
        rightYAxis: { min: 0 },
      }),
  )

const runs = () =>
  row(
    [
      'Runs by outcome',
      OUTCOMES.map((outcome) => runMetric('Runs', { outcome, statistic: 'Sum', label: outcome })),
    ],
    [
      'Duration of runs, ms',
      ['p50', 'p90', 'p99'].map((statistic) => runMetric('DurationMs', { statistic, label: statistic })),
    ],
  )

const work = () =>
  row(
    [
      'Steps a run',
      [
        runMetric('Steps', { statistic: 'Average', label: 'average' }),
        runMetric('Steps', { statistic: 'p99', label: 'p99' }),
      ],
    ],
    [
      'Tokens',
      [
        runMetric('InputTokens', { statistic: 'Sum', label: 'input' }),
        runMetric('OutputTokens', { statistic: 'Sum', label: 'output' }),
      ],
    ],
    [
      'Cache hit ratio, percent of the runs that look for one',
      [
        new MathExpression({
          expression: '100 * hits',
          label: 'hits',
          period: PERIOD,
          usingMetrics: { hits: runMetric('CacheHits', { statistic: 'Average' }) },
        }),
      ],
    ],
  )

const waiting = ({ queue, deadLetters }: Shown) =>
  row(
    [
      'Queue: messages',
      [
        queue.metricApproximateNumberOfMessagesVisible({ label: 'waiting', period: PERIOD }),
        queue.metricApproximateNumberOfMessagesNotVisible({ label: 'at work', period: PERIOD }),
      ],
    ],
    [
      'Queue: age of the oldest, s',
      [queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', period: PERIOD })],
    ],
    ['Dead letters', [deadLettersIn(deadLetters)]],
  )

const functions = ({ functions: all }: Shown) =>
  row(
    [
      'Errors by function',
      FUNCTION_NAMES.map((name) => all[name].metricErrors({ label: name, period: PERIOD })),
    ],
    [
      'Throttles by function',
      FUNCTION_NAMES.map((name) => all[name].metricThrottles({ label: name, period: PERIOD })),
    ],
  )

const edges = ({ api, table }: Shown) =>
  row(
    [
      'Requests',
      [
        api.metricCount({ label: 'all', period: PERIOD }),
        api.metricClientError({ label: '4xx', period: PERIOD }),
        api.metricServerError({ label: '5xx', period: PERIOD }),
      ],
      [
        api.metricLatency({ statistic: 'p50', label: 'p50, ms', period: PERIOD }),
        api.metricLatency({ statistic: 'p99', label: 'p99, ms', period: PERIOD }),
      ],
    ],
    ['Table: throttled', [throttledOn(table, 'Read'), throttledOn(table, 'Write')]],
  )
