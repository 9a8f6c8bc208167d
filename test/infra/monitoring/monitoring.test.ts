import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES, getFunctionSettings } from '../../../infra/functions/function-settings.ts'
import { INDEXES } from '../../../lib/dynamodb/table/schema.ts'
import { ENQUEUE_FAILURES, NAMESPACE, UNITS } from '../../../lib/metrics.ts'
import { readSection } from '../operations.ts'
import { findResource, findResources, type Resource, synthesize, toLogicalIdPrefix } from '../synthesize.ts'

const STACK = 'AgentExecutionService'
const template = synthesize({ alarmEmail: 'ops@example.com' })
const withoutEmail = synthesize()

const findAlarms = (of: typeof template): [string, Resource['Properties']][] =>
  Object.values(findResources(of, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => [
    Properties.AlarmName.replace(`${STACK}-`, ''),
    Properties,
  ])
const alarms = new Map(findAlarms(template))
const toRunbookTitle = (name: string) => name.replace(/-.*/, '')

/** The metrics of an alarm, direct or within its expression. */
const findMetrics = (name: string): string[] => {
  const { MetricName, Metrics = [] } = alarms.get(name) ?? {}
  const nested = Metrics.flatMap((query: Resource['Properties']) => query.MetricStat?.Metric.MetricName ?? [])
  return [MetricName, ...nested].filter(Boolean)
}

describe('the alarms', () => {
  const monitored = FUNCTION_NAMES.filter((name) => name !== 'authorize-request')

  it('are exactly these', () => {
    expect([...alarms.keys()].sort()).toEqual(
      [
        ...['DeadLetters', 'EnqueueFailures', 'ExecutionErrorRate', 'FunctionThrottles', 'QueueAge'],
        ...['SweeperNotRunning', 'TableReadThrottles', 'TableWriteThrottles'],
        ...monitored.map((name) => `FunctionErrors-${name}`),
      ].sort(),
    )
  })

  it.each(monitored)('monitor the errors of %s', (name) => {
    expect(alarms.get(`FunctionErrors-${name}`)?.Dimensions).toEqual([
      { Name: 'FunctionName', Value: { Ref: expect.stringMatching(`^${toLogicalIdPrefix(name)}Function`) } },
    ])
    expect(findMetrics(`FunctionErrors-${name}`)).toEqual(['Errors'])
  })

  it('use the metrics that they are named after', () => {
    expect(findMetrics('DeadLetters').sort()).toEqual([
      'ApproximateNumberOfMessagesVisible',
      'NumberOfMessagesReceived',
    ])
    expect(findMetrics('EnqueueFailures')).toEqual([ENQUEUE_FAILURES])
    expect(findMetrics('QueueAge')).toEqual(['ApproximateAgeOfOldestMessage'])
    expect(findMetrics('ExecutionErrorRate')).toEqual(['Runs', 'Runs'])
    expect(findMetrics('SweeperNotRunning')).toEqual(['Invocations'])
    expect(findMetrics('FunctionThrottles')).toEqual(['Throttles'])
    const resources = Object.keys(INDEXES).length + 1
    expect(findMetrics('TableReadThrottles')).toEqual(Array(resources).fill('ReadThrottleEvents'))
    expect(findMetrics('TableWriteThrottles')).toEqual(Array(resources).fill('WriteThrottleEvents'))
  })

  it('use at most ten metrics each, the limit of CloudWatch', () => {
    for (const name of alarms.keys()) expect(findMetrics(name).length).toBeLessThanOrEqual(10)
  })

  it('allow a message at least the maximum run time of a runner', () => {
    expect(alarms.get('QueueAge')?.Threshold).toBeGreaterThan(
      getFunctionSettings('process-execution').timeoutSeconds,
    )
  })

  it('treat missing data as breaching only for the sweeper', () => {
    const breaching = [...alarms].filter(([, { TreatMissingData }]) => TreatMissingData === 'breaching')
    expect(breaching.map(([name]) => name)).toEqual(['SweeperNotRunning'])
    expect(alarms.get('SweeperNotRunning')).toMatchObject({
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
    })
  })

  it('have one runbook entry each in docs/operations.md, with three parts', () => {
    const entries = readSection('Alarms').split(/^### /m).slice(1)
    const headings = entries.map((entry) => entry.split('\n')[0])
    expect(headings.sort()).toEqual([...new Set([...alarms.keys()].map(toRunbookTitle))].sort())
    for (const entry of entries) {
      for (const part of ['**Meaning.**', '**How to investigate.**', '**What to do.**'])
        expect(entry.includes(part), `${part} in ${entry}`).toBe(true)
    }
  })

  it('refer to the runbook', () => {
    for (const { AlarmDescription } of alarms.values())
      expect(AlarmDescription).toMatch(/\. See docs\/operations\.md\.$/)
  })
})

describe('alarmEmail', () => {
  it('receives every alarm and its recovery', () => {
    const [topic] = Object.keys(findResources(template, 'AWS::SNS::Topic'))
    for (const { AlarmActions, OKActions } of alarms.values())
      expect([AlarmActions, OKActions]).toEqual([[{ Ref: topic }], [{ Ref: topic }]])
    expect(findResource(template, 'AWS::SNS::Subscription').Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'ops@example.com',
      TopicArn: { Ref: topic },
    })
  })

  it('lets only alarms of the account publish to the topic, over TLS', () => {
    const { Statement } = findResource(template, 'AWS::SNS::TopicPolicy').Properties.PolicyDocument
    expect(Statement).toMatchObject([
      { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
      {
        Effect: 'Allow',
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      },
    ])
  })

  it('creates no topic by default', () => {
    withoutEmail.resourceCountIs('AWS::SNS::Topic', 0)
    for (const [, { AlarmActions }] of findAlarms(withoutEmail)) expect(AlarmActions).toBeUndefined()
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
      'Cache hit ratio of executions with useCache (%)',
      'Messages in the queue',
      'Age of the oldest message (s)',
      'Dead letters and messages not sent',
      'Errors by function',
      'Throttles by function',
      'API requests and latency',
      'Table throttles',
    ])
  })

  it('shows every metric of executions', () => {
    for (const name of Object.keys(UNITS))
      expect(text).toContain(JSON.stringify([NAMESPACE, name]).slice(1, -1))
  })

  it.each(['Errors by function', 'Throttles by function'])('shows every function in "%s"', (title) => {
    const widget = widgets[titles.indexOf(title)]
    const labels = widget.properties.metrics.map((metric: { label: string }[]) => metric.at(-1)?.label)
    expect(labels).toEqual(FUNCTION_NAMES)
  })
})

describe('watching', () => {
  it('creates no dashboard, alarms or topic when false', () => {
    const unmonitored = synthesize({ watching: false, alarmEmail: 'ops@example.com' })
    for (const type of ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard', 'AWS::SNS::Topic'])
      unmonitored.resourceCountIs(type, 0)
  })
})
