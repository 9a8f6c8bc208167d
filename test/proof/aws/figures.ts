import {
  DescribeAlarmHistoryCommand,
  GetMetricDataCommand,
  type MetricDataQuery,
} from '@aws-sdk/client-cloudwatch'
import type { Findings } from '../run-proof.ts'
import type { Account } from './account.ts'
import { findFunction, findResource, type StackResource } from './stack-resources.ts'

type Figure = {
  label: string
  namespace: string
  name: string
  statistic: string
  dimensions?: Record<string, string>
}

const PERIOD_SECONDS = 60

/** US dollars in us-east-1, by figure: `bench/costs/prices.ts` has the sources. */
const PRICES = {
  'write units of the table': 0.625e-6,
  'read units of the table': 0.125e-6,
  'invocations of runners': 0.2e-6,
}

/** What CloudWatch has counted of a stack since the beginning of a proof, and which alarms were raised. */
export async function collectFigures(
  account: Account,
  { stack, resources, since }: { stack: string; resources: StackResource[]; since: Date },
): Promise<Findings> {
  const figures = listFigures(stack, resources)
  const { MetricDataResults = [] } = await account.cloudWatch.send(
    new GetMetricDataCommand({
      StartTime: since,
      EndTime: new Date(),
      MetricDataQueries: figures.map(toQuery),
    }),
  )
  const figureOf = (index: number) => {
    const values = MetricDataResults.find(({ Id }) => Id === idOf(index))?.Values ?? []
    if (values.length === 0) return 'no data'
    const isSum = figures[index]?.statistic === 'Sum'
    return Math.round(isSum ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values))
  }
  const measured = Object.fromEntries(figures.map(({ label }, index) => [label, figureOf(index)]))
  const dollars = ([label, price]: [string, number]) => Number(measured[label]) * price
  const known = Object.entries(PRICES).map(dollars).filter(Number.isFinite)
  return {
    figures: {
      ...measured,
      'US$ of the runs: units and runners alone': known.reduce((sum, each) => sum + each, 0).toFixed(4),
      'alarms raised': await listRaisedAlarms(account, stack, since).then(
        (names) => names.join(', ') || 'none',
        (error: Error) => `unknown: ${error.message}`,
      ),
    },
  }
}

/** Of statistics other than sums, the maximum of all minutes counts. */
function listFigures(stack: string, resources: StackResource[]): Figure[] {
  const service = (label: string, name: string, statistic: string) => ({
    label,
    namespace: stack,
    name,
    statistic,
  })
  const lambda = (label: string, name: string, functionName: string): Figure => ({
    label,
    namespace: 'AWS/Lambda',
    name,
    statistic: 'Sum',
    dimensions: { FunctionName: functionName },
  })
  const table = (label: string, name: string): Figure => ({
    label,
    namespace: 'AWS/DynamoDB',
    name,
    statistic: 'Sum',
    dimensions: { TableName: findResource(resources, 'AWS::DynamoDB::Table', 'Table') },
  })
  const [runner, runAgent] = (['process-execution', 'run-agent'] as const).map((name) =>
    findFunction(resources, name),
  )
  return [
    service('executions', 'Runs', 'Sum'),
    service('slowest minute, duration p99 (ms)', 'DurationMs', 'p99'),
    service('slowest minute, overhead of runs p99 (ms)', 'RunOverheadMs', 'p99'),
    service('slowest minute, start of asynchronous runs p99 (ms)', 'StartDelayMs', 'p99'),
    service('slowest minute, reads p99 (ms)', 'ReadLatencyMs', 'p99'),
    service('server errors', 'ServerErrors', 'Sum'),
    service('attempts of a run without progress, maximum', 'RepeatedAttempts', 'Maximum'),
    lambda('invocations of runners', 'Invocations', runner ?? ''),
    lambda('errors of runners', 'Errors', runner ?? ''),
    lambda('throttles of runners', 'Throttles', runner ?? ''),
    lambda('throttles of run-agent', 'Throttles', runAgent ?? ''),
    table('write units of the table', 'ConsumedWriteCapacityUnits'),
    table('read units of the table', 'ConsumedReadCapacityUnits'),
    table('throttled writes of the table', 'WriteThrottleEvents'),
    table('throttled reads of the table', 'ReadThrottleEvents'),
  ]
}

const idOf = (index: number) => `figure${index}`

const toQuery = (
  { namespace, name, statistic, dimensions = {} }: Figure,
  index: number,
): MetricDataQuery => ({
  Id: idOf(index),
  MetricStat: {
    Metric: {
      Namespace: namespace,
      MetricName: name,
      Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
    },
    Period: PERIOD_SECONDS,
    Stat: statistic,
  },
})

/** The names without that of the stack. */
export async function listRaisedAlarms(
  { cloudWatch }: Pick<Account, 'cloudWatch'>,
  stack: string,
  since: Date,
): Promise<string[]> {
  const { AlarmHistoryItems = [] } = await cloudWatch.send(
    new DescribeAlarmHistoryCommand({ HistoryItemType: 'StateUpdate', StartDate: since, MaxRecords: 100 }),
  )
  const raised = AlarmHistoryItems.filter(
    ({ AlarmName = '', HistorySummary = '' }) =>
      AlarmName.startsWith(`${stack}-`) && / to ALARM$/.test(HistorySummary),
  )
  return [...new Set(raised.map(({ AlarmName = '' }) => AlarmName.slice(stack.length + 1)))].sort()
}
