import { describe, expect, it } from 'vitest'
import { findResource, findResources, synthesize } from './synthesize.ts'

const EVERYTHING = {
  corsOrigins: '*',
  kms: true,
  webAcl: true,
  monitoring: true,
  alarmSubscriptions: 'ops@example.com',
  openaiKeyParameter: '/shared/openai',
}
const template = synthesize({ ...EVERYTHING, stackName: 'staging' })
const { Resources, Outputs } = template.toJSON()

/** Names within another resource of the stack: its role, API, function, queue, or a rule of the web ACL. */
const NAMES_WITHIN_A_RESOURCE = [
  'AWS::ApiGateway::Stage',
  'AWS::IAM::Policy',
  'AWS::Lambda::Alias',
  'AWS::Lambda::EventSourceMapping',
  'AWS::Lambda::Permission',
  'AWS::Lambda::Version',
  'AWS::Logs::MetricFilter',
]

/** The physical names that the template sets, as "type: name". */
const names = Object.values<{ Type: string; Properties?: object }>(Resources)
  .filter(({ Type }) => !NAMES_WITHIN_A_RESOURCE.includes(Type))
  .flatMap(({ Type, Properties = {} }) =>
    Object.entries(Properties)
      .filter(([key]) => /^(?!Metric).*Name$/.test(key))
      .map(([, name]) => `${Type}: ${JSON.stringify(name)}`),
  )

describe('stackName', () => {
  it('is part of every physical name', () => {
    expect(names.map((name) => name.split(':')[4])).toEqual(expect.arrayContaining(['Alarm', 'Dashboard']))
    expect(names.filter((name) => !name.includes('staging'))).toEqual([])
  })

  it('replaces the default name everywhere', () => {
    expect(JSON.stringify(template.toJSON())).not.toContain('AgentExecutionService')
  })

  it('is the namespace of every metric of executions in alarms and on the dashboard', () => {
    const alarms = Object.values(findResources(template, 'AWS::CloudWatch::Alarm'))
    const metrics = alarms.flatMap(({ Properties: { Metrics = [], ...metric } }) => [
      metric,
      ...Metrics.flatMap((query: typeof metric) => query.MetricStat?.Metric ?? []),
    ])
    const own = metrics.filter(({ MetricName }) => ['Runs', 'EnqueueFailures'].includes(MetricName))
    expect(own).toHaveLength(3)
    for (const { Namespace } of own) expect(Namespace).toBe('staging')
    const { DashboardBody } = findResource(template, 'AWS::CloudWatch::Dashboard').Properties
    expect(JSON.stringify(DashboardBody)).toContain('[\\"staging\\",\\"Steps\\"')
  })

  it('is in no export: exports have names within the account and region', () => {
    expect(Object.values<{ Export?: unknown }>(Outputs).filter(({ Export }) => Export)).toEqual([])
  })
})
