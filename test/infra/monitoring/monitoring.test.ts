import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import { READ_OPERATIONS } from '../../../infra/monitoring/metric-filters.ts'
import { functionOf } from '../../../lib/contract/routes.ts'
import { INDEXES } from '../../../lib/dynamodb/table/schema.ts'
import { LOST_TRACES, UNITS } from '../../../lib/metrics.ts'
import { readEntries, readSection } from '../read-section.ts'
import { findResource, findResources, type Resource, synthesize, toLogicalIdPrefix } from '../synthesize.ts'

const STACK = 'AgentExecutionService'
const template = synthesize()

const findAlarms = (of: typeof template): [string, Resource['Properties']][] =>
  Object.values(findResources(of, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => [
    Properties.AlarmName.replace(`${STACK}-`, ''),
    Properties,
  ])
const alarms = new Map(findAlarms(template))
/** Those of a deployment that sends traces. */
const allAlarms = new Map(findAlarms(synthesize({ otlpEndpoint: 'https://collector.example.com' })))

/** US dollars per month: https://aws.amazon.com/cloudwatch/pricing/ */
const ALARM_METRIC_PRICE = 0.1
const DASHBOARD_PRICE = 3

/** The metrics of an alarm, direct or within its expression. */
const findMetrics = (name: string): string[] => {
  const { MetricName, Metrics = [] } = alarms.get(name) ?? {}
  const nested = Metrics.flatMap((query: Resource['Properties']) => query.MetricStat?.Metric.MetricName ?? [])
  return [MetricName, ...nested].filter(Boolean)
}

describe('the alarms', () => {
  const CONCURRENCY = ['UnreservedConcurrentExecutions', 'ClaimedAccountConcurrency', 'ConcurrentExecutions']

  it('are exactly these, on exactly these metrics', () => {
    expect(Object.fromEntries([...alarms.keys()].map((name) => [name, findMetrics(name)]))).toEqual({
      ServerErrorRate: ['ServerErrors', 'Count'],
      ReadLatency: ['ReadLatencyMs'],
      RunLatency: ['RunOverheadMs'],
      StartDelay: ['StartDelayMs'],
      AuthorizerErrors: ['AuthorizerErrors'],
      ThrottledRequests: ['ThrottledRequests'],
      EnqueueFailures: ['EnqueueFailures'],
      QueueAge: Array(2).fill('ApproximateAgeOfOldestMessage'),
      QuietQueueAge: Array(2).fill('ApproximateAgeOfOldestMessageInQuietGroups'),
      RunnerErrors: ['Errors'],
      DeadLetters: ['NumberOfMessagesReceived', 'ApproximateNumberOfMessagesVisible'],
      RepeatedAttempts: ['RepeatedAttempts'],
      LowScores: ['LowScores'],
      OutboxAge: ['OutboxAgeSeconds'],
      ExecutionErrorRate: ['Runs', 'Runs'],
      CostGrowth: ['DailyCostUsd', 'UsualDailyCostUsd'],
      SweepFailures: ['Errors'],
      SweeperNotRunning: ['Invocations'],
      FunctionThrottles: ['Throttles'],
      AccountConcurrency: CONCURRENCY,
      IndexWriteThrottles: Object.keys(INDEXES).map(() => 'WriteThrottleEvents'),
      IndexReadThrottles: Object.keys(INDEXES).map(() => 'ReadThrottleEvents'),
    })
  })

  it.each([
    ['RunnerErrors', 'process-execution'],
    ['SweepFailures', 'sweep-executions'],
    ['SweeperNotRunning', 'sweep-executions'],
  ])('%s monitors %s', (alarm, name) => {
    expect(alarms.get(alarm)?.Dimensions).toEqual([
      { Name: 'FunctionName', Value: { Ref: expect.stringMatching(`^${toLogicalIdPrefix(name)}Function`) } },
    ])
  })

  it('have the number and the price that docs/costs.md and docs/operations.md state', () => {
    const metrics = [...alarms.keys()].flatMap(findMetrics).length
    expect(readSection('operations.md', 'Alarms')).toContain(`${alarms.size} alarms use ${metrics} metrics`)
    const price = (DASHBOARD_PRICE + metrics * ALARM_METRIC_PRICE).toFixed(2)
    const costs = readFileSync(new URL('../../../docs/costs.md', import.meta.url), 'utf8')
    const row = /^\| dashboard and (\d+) alarms on (\d+) metrics .*\| +([\d.]+) \|$/m.exec(costs)
    expect(row?.slice(1)).toEqual([String(alarms.size), String(metrics), price])
  })

  it('are one more if traces are sent', () => {
    expect([...allAlarms.keys()].filter((name) => !alarms.has(name))).toEqual(['LostTraces'])
    expect(allAlarms.get('LostTraces')).toMatchObject({ MetricName: LOST_TRACES, Threshold: 0 })
  })

  it('treat missing data as breaching only for the sweeper', () => {
    const breaching = [...alarms].filter(([, { TreatMissingData }]) => TreatMissingData === 'breaching')
    const below = { ComparisonOperator: 'LessThanThreshold', Threshold: 1 }
    expect(breaching).toEqual([['SweeperNotRunning', expect.objectContaining(below)]])
  })

  it('have one entry each in docs/operations.md, with three parts', () => {
    const entries = readEntries('operations.md', 'Runbooks')
    expect([...entries.keys()].sort()).toEqual([...allAlarms.keys()].sort())
    for (const [alarm, entry] of entries)
      for (const part of ['**Meaning.**', '**How to investigate.**', '**What to do.**'])
        expect(entry.includes(part), `${part} in ${alarm}`).toBe(true)
  })
})

describe('the dashboard', () => {
  /** The body, with CloudFormation references replaced by X. */
  const readBody = (of: typeof template) => {
    const [, parts] = findResource(of, 'AWS::CloudWatch::Dashboard').Properties.DashboardBody['Fn::Join']
    return JSON.parse(parts.map((part: unknown) => (typeof part === 'string' ? part : 'X')).join(''))
  }
  const { widgets } = readBody(template)
  const titles = widgets.map(({ properties }: Resource['Properties']) => properties.title)
  const text = JSON.stringify(widgets)

  it('shows alarms, executions, the queue, the functions, the API and the table', () => {
    expect(titles).toEqual([
      'Alarms',
      'Executions by outcome',
      'Execution duration (ms)',
      'Steps per execution',
      'Tokens',
      'Cost of a day (US$)',
      'Cache hit ratio of executions with useCache (%)',
      'Messages in the queues',
      'Age of the oldest message (s)',
      'Events not sent to destinations',
      'Dead letters and messages not sent',
      'Errors by function',
      'Throttles by function',
      'Duration by function, p99 (ms)',
      'Memory of functions that run agents (MB)',
      'Failed requests',
      'API requests and latency',
      'Table throttles',
    ])
  })

  it('shows every metric of executions', () => {
    for (const name of Object.keys(UNITS))
      expect(text).toContain(JSON.stringify(['AgentExecutionService', name]).slice(1, -1))
  })

  it.each(['Errors by function', 'Throttles by function'])('shows every function in "%s"', (title) => {
    const widget = widgets[titles.indexOf(title)]
    const labels = widget.properties.metrics.map((metric: { label: string }[]) => metric.at(-1)?.label)
    expect(labels).toEqual(FUNCTION_NAMES)
  })
})

describe('the metric filters', () => {
  const filters = Object.values(findResources(template, 'AWS::Logs::MetricFilter')).map(
    ({ Properties }) => Properties,
  )
  const find = (metric: string) =>
    filters.filter(({ MetricTransformations: [{ MetricName }] }) => MetricName === metric)

  it('derive no dimensions: each would be another metric to pay for', () => {
    for (const { MetricTransformations } of filters)
      expect(MetricTransformations[0].Dimensions).toBeUndefined()
  })

  it('measure every function that clients read with', () => {
    const groups = find('ReadLatencyMs').map(({ LogGroupName }) => LogGroupName.Ref)
    expect(READ_OPERATIONS).toEqual(expect.arrayContaining(['get-me', 'list-agents', 'get-execution']))
    for (const name of ['check-health', 'stream-events', 'list-batch-results', 'get-usage', 'give-feedback'])
      expect(READ_OPERATIONS).not.toContain(name)
    expect(groups).toEqual(
      [...new Set(READ_OPERATIONS.map(functionOf))].map((name) =>
        expect.stringMatching(`^${toLogicalIdPrefix(name)}Logs`),
      ),
    )
  })

  it('use members that the access log has', () => {
    const { Format } = findResource(template, 'AWS::ApiGateway::Stage').Properties.AccessLogSetting
    for (const metric of ['ServerErrors', 'AuthorizerErrors', 'ThrottledRequests']) {
      const [filter] = find(metric)
      const members = [...filter.FilterPattern.matchAll(/\$\.(\w+)/g)].map(([, member]) => member)
      expect(members.length).toBeGreaterThan(0)
      expect(Object.keys(JSON.parse(Format))).toEqual(expect.arrayContaining(members))
    }
  })
})
