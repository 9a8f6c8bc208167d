import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES, settingsOf } from '../../../infra/functions/function-settings.ts'
import { INDEXES } from '../../../lib/dynamodb/schema.ts'
import { NAMESPACE, UNITS } from '../../../lib/metrics.ts'
import { sectionOf } from '../operations.ts'
import { onlyResource, prefixOf, type Resource, resourcesOf, synthesize } from '../synthesize.ts'

const STACK = 'AgentExecutionService'
const template = synthesize({ alarmEmail: 'ops@example.com' })
const quiet = synthesize()

const alarmsOf = (of: typeof template): [string, Resource['Properties']][] =>
  Object.values(resourcesOf(of, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => [
    Properties.AlarmName.replace(`${STACK}-`, ''),
    Properties,
  ])
const alarms = new Map(alarmsOf(template))
const articleOf = (name: string) => name.replace(/-.*/, '')

/** The metrics that an alarm looks at, plain or within its expression. */
const metricsOf = (name: string): string[] => {
  const { MetricName, Metrics = [] } = alarms.get(name) ?? {}
  const within = Metrics.flatMap((query: Resource['Properties']) => query.MetricStat?.Metric.MetricName ?? [])
  return [MetricName, ...within].filter(Boolean)
}

describe('the alarms', () => {
  const watched = FUNCTION_NAMES.filter((name) => name !== 'authorize-request')

  it('are these', () => {
    expect([...alarms.keys()].sort()).toEqual(
      [
        ...['DeadLetters', 'FunctionThrottles', 'QueueAge', 'RunsFailing', 'SweeperSilent'],
        ...['TableReadThrottles', 'TableWriteThrottles'],
        ...watched.map((name) => `FunctionErrors-${name}`),
      ].sort(),
    )
  })

  it.each(watched)('watch the errors of %s', (name) => {
    expect(alarms.get(`FunctionErrors-${name}`)?.Dimensions).toEqual([
      { Name: 'FunctionName', Value: { Ref: expect.stringMatching(`^${prefixOf(name)}Function`) } },
    ])
    expect(metricsOf(`FunctionErrors-${name}`)).toEqual(['Errors'])
  })

  it('look at what they are named after', () => {
    expect(metricsOf('DeadLetters').sort()).toEqual([
      'ApproximateNumberOfMessagesVisible',
      'NumberOfMessagesReceived',
    ])
    expect(metricsOf('QueueAge')).toEqual(['ApproximateAgeOfOldestMessage'])
    expect(metricsOf('RunsFailing')).toEqual(['Runs', 'Runs'])
    expect(metricsOf('SweeperSilent')).toEqual(['Invocations'])
    expect(metricsOf('FunctionThrottles')).toEqual(['Throttles'])
    const places = Object.keys(INDEXES).length + 1
    expect(metricsOf('TableReadThrottles')).toEqual(Array(places).fill('ReadThrottleEvents'))
    expect(metricsOf('TableWriteThrottles')).toEqual(Array(places).fill('WriteThrottleEvents'))
  })

  it('use ten metrics each at most, which is the limit of CloudWatch', () => {
    for (const name of alarms.keys()) expect(metricsOf(name).length).toBeLessThanOrEqual(10)
  })

  it('leave a run the time that it may take before its message counts as old', () => {
    expect(alarms.get('QueueAge')?.Threshold).toBeGreaterThan(settingsOf('process-execution').timeoutSeconds)
  })

  it('are raised by silence only where silence is the fault', () => {
    const silent = [...alarms].filter(([, { TreatMissingData }]) => TreatMissingData === 'breaching')
    expect(silent.map(([name]) => name)).toEqual(['SweeperSilent'])
    expect(alarms.get('SweeperSilent')).toMatchObject({
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
    })
  })

  it('and nothing else have an article each in docs/operations.md, of three parts', () => {
    const articles = sectionOf('Alarms').split(/^### /m).slice(1)
    const titles = articles.map((article) => article.split('\n')[0])
    expect(titles.sort()).toEqual([...new Set([...alarms.keys()].map(articleOf))].sort())
    for (const article of articles) {
      for (const part of ['**Meaning.**', '**How to look.**', '**What to do.**'])
        expect(article.includes(part), `${part} in ${article}`).toBe(true)
    }
  })

  it('say where to read on', () => {
    for (const { AlarmDescription } of alarms.values())
      expect(AlarmDescription).toMatch(/\. See docs\/operations\.md\.$/)
  })
})

describe('alarmEmail', () => {
  it('gets every alarm, and its end', () => {
    const [topic] = Object.keys(resourcesOf(template, 'AWS::SNS::Topic'))
    for (const { AlarmActions, OKActions } of alarms.values())
      expect([AlarmActions, OKActions]).toEqual([[{ Ref: topic }], [{ Ref: topic }]])
    expect(onlyResource(template, 'AWS::SNS::Subscription').Properties).toMatchObject({
      Protocol: 'email',
      Endpoint: 'ops@example.com',
      TopicArn: { Ref: topic },
    })
  })

  it('has a topic that the account’s alarms may write to, over TLS only', () => {
    const { Statement } = onlyResource(template, 'AWS::SNS::TopicPolicy').Properties.PolicyDocument
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

  it('is without a topic when it is absent', () => {
    quiet.resourceCountIs('AWS::SNS::Topic', 0)
    for (const [, { AlarmActions }] of alarmsOf(quiet)) expect(AlarmActions).toBeUndefined()
  })
})

describe('the dashboard', () => {
  /** Its body with what CloudFormation fills in replaced by a mark. */
  const bodyOf = (of: typeof template) => {
    const [, parts] = onlyResource(of, 'AWS::CloudWatch::Dashboard').Properties.DashboardBody['Fn::Join']
    return JSON.parse(parts.map((part: unknown) => (typeof part === 'string' ? part : 'X')).join(''))
  }
  const { widgets } = bodyOf(template)
  const titles = widgets.map(({ properties }: Resource['Properties']) => properties.title)
  const text = JSON.stringify(widgets)

  it('shows runs, their work, the queue, the functions, the API and the table', () => {
    expect(titles).toEqual([
      'Alarms',
      'Runs by outcome',
      'Duration of runs, ms',
      'Steps a run',
      'Tokens',
      'Cache hit ratio, percent of the runs that look for one',
      'Queue: messages',
      'Queue: age of the oldest, s',
      'Dead letters',
      'Errors by function',
      'Throttles by function',
      'Requests',
      'Table: throttled',
    ])
  })

  it('shows every metric that runs write', () => {
    for (const name of Object.keys(UNITS))
      expect(text).toContain(JSON.stringify([NAMESPACE, name]).slice(1, -1))
  })

  it.each(['Errors by function', 'Throttles by function'])('has every function in %s', (title) => {
    const widget = widgets[titles.indexOf(title)]
    const labels = widget.properties.metrics.map((metric: { label: string }[]) => metric.at(-1)?.label)
    expect(labels).toEqual(FUNCTION_NAMES)
  })
})

describe('watching', () => {
  it('leaves dashboard, alarms and topic out when it is off', () => {
    const without = synthesize({ watching: false, alarmEmail: 'ops@example.com' })
    for (const type of ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard', 'AWS::SNS::Topic'])
      without.resourceCountIs(type, 0)
  })
})
