import { describe, expect, it } from 'vitest'
import { ALL_OPTIONS } from '../all-options.ts'
import { findResource, findResources, synthesize } from '../synthesize.ts'

const { vpcId, subnetIds } = ALL_OPTIONS
const VPC = { vpcId, subnetIds }
const template = synthesize({ ...VPC, runnerInstanceVcpus: 24, runnerConcurrency: 60 })
const functions = findResources(template, 'AWS::Lambda::Function')
const [runnerId = ''] = Object.keys(functions).filter((id) => id.startsWith('ModelRunner'))
const runner = functions[runnerId]?.Properties
const [codeRunnerId = ''] = Object.keys(functions).filter((id) => id.startsWith('ProcessExecution'))
const codeRunner = functions[codeRunnerId]?.Properties

const mappings = Object.values(findResources(template, 'AWS::Lambda::EventSourceMapping')).map(
  ({ Properties }) => ({ ...Properties, FunctionName: JSON.stringify(Properties.FunctionName) }),
)

describe('runnerInstanceVcpus', () => {
  it('creates a capacity provider in the VPC, with a maximum', () => {
    const { VpcConfig, CapacityProviderScalingConfig, InstanceRequirements } = findResource(
      template,
      'AWS::Lambda::CapacityProvider',
    ).Properties
    expect(VpcConfig).toEqual({
      SubnetIds: VPC.subnetIds.split(','),
      SecurityGroupIds: [{ 'Fn::GetAtt': [expect.stringMatching(/^AgentSecurityGroup/), 'GroupId'] }],
    })
    expect(CapacityProviderScalingConfig).toMatchObject({ MaxVCpuCount: 24 })
    expect(InstanceRequirements).toMatchObject({ Architectures: ['arm64'] })
  })

  it('runs model agents there with the code of the runner, and code agents in functions of their own', () => {
    expect(runner.Code).toEqual(codeRunner.Code)
    expect(runner.MemorySize).toBeGreaterThanOrEqual(2_048)
    expect([runner.VpcConfig, codeRunner.VpcConfig === undefined]).toEqual([undefined, false])
    expect(codeRunner.CapacityProviderConfig).toBeUndefined()
    const { PerExecutionEnvironmentMaxConcurrency, ExecutionEnvironmentMemoryGiBPerVCpu } =
      runner.CapacityProviderConfig.LambdaManagedInstancesCapacityProviderConfig
    expect(PerExecutionEnvironmentMaxConcurrency).toBe(40)
    const vcpus = runner.MemorySize / 1024 / ExecutionEnvironmentMemoryGiBPerVCpu
    expect(PerExecutionEnvironmentMaxConcurrency / vcpus).toBeLessThanOrEqual(64)
    expect(runner.Environment.Variables).toEqual({
      ...codeRunner.Environment.Variables,
      SHARED_WORKER: 'on',
    })
  })

  it('gives each run an invocation, and as many at the same time as in batches', () => {
    const [alone, shared] = mappings.filter(({ FunctionName }) =>
      /ProcessExecution|ModelRunner/.test(FunctionName),
    )
    expect(alone).toMatchObject({ BatchSize: 1, ScalingConfig: { MaximumConcurrency: 60 } })
    expect(alone?.FunctionName).toContain('ProcessExecution')
    expect(shared).toMatchObject({ BatchSize: 1, ScalingConfig: { MaximumConcurrency: 600 } })
    expect(shared?.FunctionName).toContain('ModelRunner')
  })

  it('deletes the version of an earlier release, whose instances would run on', () => {
    const versions = Object.entries(findResources(template, 'AWS::Lambda::Version'))
    const [version] = versions.filter(([id]) => id.startsWith('ModelRunner'))
    expect(version?.[1]).toMatchObject({ DeletionPolicy: 'Delete', UpdateReplacePolicy: 'Delete' })
  })

  it('counts the errors of both runners, and measures how late their runs start', () => {
    const alarms = Object.values(findResources(template, 'AWS::CloudWatch::Alarm'))
    const alarm = alarms.find(({ Properties }) => String(Properties.AlarmName).endsWith('RunnerErrors'))
    for (const id of [runnerId, codeRunnerId]) expect(JSON.stringify(alarm?.Properties.Metrics)).toContain(id)
    const logs = Object.values(findResources(template, 'AWS::Logs::MetricFilter'))
      .filter(({ Properties }) => Properties.MetricTransformations[0].MetricName === 'StartDelayMs')
      .map(({ Properties }) => Properties.LogGroupName)
    expect(logs).toEqual([codeRunner, runner].map(({ LoggingConfig }) => LoggingConfig.LogGroup))
  })

  it('has the permissions of the runner, and none of network interfaces', () => {
    const statementsOf = (prefix: string) => {
      const policies = Object.entries(findResources(template, 'AWS::IAM::Policy'))
      const [policy] = policies.filter(([id]) => id.startsWith(prefix))
      const statements = policy?.[1].Properties.PolicyDocument.Statement as { Action: string | string[] }[]
      return statements
        .map((statement) => JSON.stringify(statement))
        .filter((text) => !/"(ec2|logs|xray):/.test(text))
    }
    expect(statementsOf('ModelRunner').filter((text) => !text.includes('sqs:'))).toEqual(
      statementsOf('ProcessExecution').filter((text) => !text.includes('sqs:')),
    )
  })

  it('runs synchronous runs there too: `run-agent` is a function of its own, with a share of the same instances', () => {
    const [shared = '', ...others] = Object.keys(functions).filter((id) => id.startsWith('RunAgent'))
    expect([shared.startsWith('RunAgentShared'), others]).toEqual([true, []])
    const { CapacityProviderConfig, Environment, MemorySize, VpcConfig } = functions[shared]?.Properties ?? {}
    expect(CapacityProviderConfig).toEqual(runner.CapacityProviderConfig)
    expect([MemorySize, VpcConfig, Environment.Variables.SHARED_WORKER]).toEqual([2_048, undefined, 'on'])
    const api = JSON.stringify(findResource(template, 'AWS::ApiGateway::RestApi').Properties.Body)
    expect(api).toContain('RunAgentShared')
  })

  it('takes nothing of the quota for it, and moves its alias at once', () => {
    const options = { accountConcurrency: 1_000, deployment: 'canary10Percent5Minutes' }
    const every = synthesize({ ...VPC, runnerInstanceVcpus: 24, ...options })
    const sharedOf = (type: string) =>
      Object.entries(findResources(every, type)).filter(([id]) => id.startsWith('RunAgentShared'))
    const [[, { Properties }] = ['', { Properties: {} }]] = sharedOf('AWS::Lambda::Function')
    const { ORGANIZATION_CONCURRENCY } = Properties.Environment.Variables
    expect([Properties.ReservedConcurrentExecutions, ORGANIZATION_CONCURRENCY]).toEqual([
      undefined,
      undefined,
    ])
    expect(JSON.stringify(sharedOf('AWS::Lambda::Alias'))).not.toContain('CodeDeployLambdaAliasUpdate')
  })
})
