import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../infra/functions/function-settings.ts'
import { findFunctionResource, findResource, findResources, synthesize } from './synthesize.ts'

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

  it('is the name of the API, the dimension of its metrics', () => {
    expect(findResource(template, 'AWS::ApiGateway::RestApi').Properties.Name).toBe('staging')
    const { DashboardBody } = findResource(template, 'AWS::CloudWatch::Dashboard').Properties
    expect(JSON.stringify(DashboardBody)).toContain('\\"ApiName\\",\\"staging\\"')
  })

  it.each(FUNCTION_NAMES)('is the namespace of the metrics of %s', (name) => {
    const { Variables } = findFunctionResource(template, 'AWS::Lambda::Function', name).Properties.Environment
    expect(Variables.METRICS_NAMESPACE).toBe('staging')
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

  it('is part of the path of the secrets, in the environment and the permissions', () => {
    const { Variables } = findFunctionResource(template, 'AWS::Lambda::Function', 'run-agent').Properties
      .Environment
    expect(Variables.SECRETS_PREFIX).toBe('/aes/staging/secrets')
    const policy = JSON.stringify(findFunctionResource(template, 'AWS::IAM::Policy', 'run-agent').Properties)
    expect(policy.match(/[/:]aes\/[^"]*/g)).toEqual(['/aes/staging/secrets/*', '/aes/staging/secrets/*'])
  })

  it('is the dimension of the metrics of the web ACL', () => {
    const { VisibilityConfig } = findResource(template, 'AWS::WAFv2::WebACL').Properties
    expect(VisibilityConfig.MetricName).toBe('staging-WebAcl')
  })

  it('is in no export: exports have names within the account and region', () => {
    expect(Object.values<{ Export?: unknown }>(Outputs).filter(({ Export }) => Export)).toEqual([])
  })
})
