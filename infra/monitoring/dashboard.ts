import { Stack } from 'aws-cdk-lib'
import {
  type Alarm,
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
} from 'aws-cdk-lib/aws-cloudwatch'
import type { Construct } from 'constructs'
import { ENQUEUE_FAILURES, OUTCOMES, SERVER_ERRORS } from '../../lib/metrics.ts'
import { FUNCTION_NAMES } from '../functions/function-settings.ts'
import type { ServiceFunction } from '../functions/functions.ts'
import type { MonitoredResources } from './alarms.ts'
import {
  AUTHORIZER_ERRORS,
  deadLetterMetric,
  indexThrottleMetric,
  PERIOD,
  queueAgeMetric,
  READ_LATENCY,
  RUN_OVERHEAD,
  type ServiceMetrics,
  START_DELAY,
  serviceMetrics,
  THROTTLED_REQUESTS,
  throttleMetric,
} from './metrics.ts'

type Graph = [title: string, left: IMetric[], right?: IMetric[]]

const FULL_WIDTH = 24

/** Creates a dashboard with the alarms and, below them, rows of graphs side by side. */
export function createDashboard(
  scope: Construct,
  { alarms, ...resources }: MonitoredResources & { alarms: Alarm[] },
): void {
  const { name } = resources
  const metrics = serviceMetrics(name)
  // Dashboards are global: their names must be unique across regions.
  const dashboard = new Dashboard(scope, 'Dashboard', { dashboardName: `${name}-${Stack.of(scope).region}` })
  dashboard.addWidgets(new AlarmStatusWidget({ title: 'Alarms', alarms, width: FULL_WIDTH, height: 4 }))
  for (const row of [...executionGraphs(metrics), ...resourceGraphs(resources, metrics)]) {
    const width = FULL_WIDTH / row.length
    const axes = { leftYAxis: { min: 0 }, rightYAxis: { min: 0 } }
    dashboard.addWidgets(
      ...row.map(([title, left, right = []]) => new GraphWidget({ title, left, right, width, ...axes })),
    )
  }
}

const executionGraphs = ({
  executionMetric,
  latencyMetric,
  dailyCost,
  usualDailyCost,
}: ServiceMetrics): Graph[][] => [
  [
    [
      'Executions by outcome',
      OUTCOMES.map((outcome) => executionMetric('Runs', { outcome, statistic: 'Sum', label: outcome })),
    ],
    [
      'Execution duration (ms)',
      ['p50', 'p90', 'p99'].map((statistic) =>
        executionMetric('DurationMs', { statistic, label: statistic }),
      ),
      [latencyMetric(START_DELAY, 'start of asynchronous runs')],
    ],
  ],
  [
    [
      'Steps per execution',
      [
        executionMetric('Steps', { statistic: 'Average', label: 'average' }),
        executionMetric('Steps', { statistic: 'p99', label: 'p99' }),
      ],
    ],
    [
      'Tokens',
      [
        executionMetric('InputTokens', { statistic: 'Sum', label: 'input' }),
        executionMetric('OutputTokens', { statistic: 'Sum', label: 'output' }),
      ],
    ],
    ['Cost of a day (US$)', [dailyCost, usualDailyCost]],
    [
      'Cache hit ratio of executions with useCache (%)',
      [
        new MathExpression({
          expression: '100 * hits',
          label: 'hits',
          period: PERIOD,
          usingMetrics: { hits: executionMetric('CacheHits', { statistic: 'Average' }) },
        }),
      ],
    ],
  ],
]

/** On managed instances, the runner of model agents is one more. */
function labeledFunctions({
  functions,
  modelRunner,
}: Pick<MonitoredResources, 'functions' | 'modelRunner'>): [label: string, each: ServiceFunction][] {
  const labeled = FUNCTION_NAMES.map((name) => [name, functions[name]] as [string, ServiceFunction])
  const isShared = modelRunner === functions['process-execution']
  return isShared ? labeled : [...labeled, ['model runner', modelRunner]]
}

const resourceGraphs = (
  { api, table, ...resources }: MonitoredResources,
  { countMetric, latencyMetric, memoryUsed, repeatedAttempts, outboxAge }: ServiceMetrics,
): Graph[][] => [
  [
    [
      'Messages in the queues',
      Object.entries({
        'code agents': resources.queue,
        'model agents': resources.modelQueue,
        deliveries: resources.deliveryQueue,
      }).flatMap(([name, queue]) => [
        queue.metricApproximateNumberOfMessagesVisible({ label: `${name}, visible`, period: PERIOD }),
        queue.metricApproximateNumberOfMessagesNotVisible({ label: `${name}, in flight`, period: PERIOD }),
      ]),
    ],
    ['Age of the oldest message (s)', [queueAgeMetric(resources), queueAgeMetric(resources, 'quiet')]],
    ['Events not sent to destinations', [outboxAge]],
    [
      'Dead letters and messages not sent',
      [deadLetterMetric(resources.deadLetterQueue), countMetric(ENQUEUE_FAILURES, 'Messages not sent')],
      [repeatedAttempts],
    ],
  ],
  [
    [
      'Errors by function',
      labeledFunctions(resources).map(([label, each]) =>
        each.function.metricErrors({ label, period: PERIOD }),
      ),
    ],
    [
      'Throttles by function',
      labeledFunctions(resources).map(([label, each]) =>
        each.function.metricThrottles({ label, period: PERIOD }),
      ),
    ],
  ],
  [
    [
      'Duration by function, p99 (ms)',
      labeledFunctions(resources).map(([label, each]) =>
        each.function.metricDuration({ label, statistic: 'p99', period: PERIOD }),
      ),
    ],
    ['Memory of functions that run agents (MB)', [memoryUsed]],
  ],
  [
    [
      'Failed requests',
      [
        countMetric(SERVER_ERRORS, 'server errors'),
        countMetric(AUTHORIZER_ERRORS, 'authorizer errors'),
        countMetric(THROTTLED_REQUESTS, '429'),
      ],
    ],
    [
      'API requests and latency',
      [
        api.metricCount({ label: 'requests', period: PERIOD }),
        api.metricClientError({ label: '4xx', period: PERIOD }),
        api.metricServerError({ label: '5xx', period: PERIOD }),
      ],
      [
        api.metricLatency({ statistic: 'p50', label: 'p50 (ms)', period: PERIOD }),
        api.metricLatency({ statistic: 'p99', label: 'p99 (ms)', period: PERIOD }),
        latencyMetric(READ_LATENCY, 'reads'),
        latencyMetric(RUN_OVERHEAD, 'overhead of runs'),
      ],
    ],
    [
      'Table throttles',
      (['Read', 'Write'] as const).flatMap((kind) => [
        throttleMetric(table, kind),
        indexThrottleMetric(table, kind),
      ]),
    ],
  ],
]
