import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import { OPTION_SETS } from '../all-options.ts'
import { findResource, findResources, type Resource, synthesize, toLogicalIdPrefix } from '../synthesize.ts'

const GROUP = 'AWS::CodeDeploy::DeploymentGroup'

type Alias = Resource & {
  UpdatePolicy?: { CodeDeployLambdaAliasUpdate: Record<string, { Ref: string }> }
}

const aliasOf = (template: ReturnType<typeof synthesize>, name: string): Alias => {
  const prefix = `${toLogicalIdPrefix(name)}FunctionAlias`
  const [found] = Object.entries(findResources(template, 'AWS::Lambda::Alias')).filter(([id]) =>
    id.startsWith(prefix),
  )
  if (!found) throw new Error(`${name} has no alias.`)
  return found[1]
}

describe('deployment', () => {
  it('is at once by default, without CodeDeploy', () => {
    for (const context of [{}, OPTION_SETS['other values']])
      expect(JSON.stringify(synthesize(context).toJSON())).not.toContain('CodeDeploy')
  })
})

describe('a deployment in steps', () => {
  const template = synthesize({ ...OPTION_SETS['every option'], runnerInstanceVcpus: '' })
  const groups = findResources(template, GROUP)
  const [applicationId] = Object.keys(findResources(template, 'AWS::CodeDeploy::Application'))

  it('moves the alias of every function but the console and the sweeper in a group of its own', () => {
    const used = FUNCTION_NAMES.flatMap((name) => {
      const { UpdatePolicy } = aliasOf(template, name)
      if (!UpdatePolicy) return []
      const { ApplicationName, DeploymentGroupName } = UpdatePolicy.CodeDeployLambdaAliasUpdate
      expect(ApplicationName).toEqual({ Ref: applicationId })
      return [{ name, group: DeploymentGroupName?.Ref }]
    })
    expect(FUNCTION_NAMES.filter((name) => !used.some((each) => each.name === name)).sort()).toEqual([
      'serve-console',
      'sweep-executions',
    ])
    expect(used.map(({ group }) => group).sort()).toEqual(Object.keys(groups).sort())
  })

  it('ends with the previous release if it fails, is stopped, or an alarm of the service is raised', () => {
    const { Properties } = findResource(template, 'AWS::CodeDeploy::Application')
    expect(Properties).toMatchObject({ ComputePlatform: 'Lambda' })
    for (const group of Object.values(groups)) {
      expect(group.Properties.DeploymentConfigName).toBe('CodeDeployDefault.LambdaCanary10Percent5Minutes')
      expect(group.Properties.AutoRollbackConfiguration).toEqual({
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM'],
      })
      const { Enabled, Alarms } = group.Properties.AlarmConfiguration
      expect(Enabled).toBe(true)
      expect(
        Alarms.map(({ Name }: { Name: { Ref: string } }) => Name.Ref.replace(/Alarm.*/, '')).sort(),
      ).toEqual(['AuthorizerErrors', 'EnqueueFailures', 'RunnerErrors', 'ServerErrorRate', 'SweepFailures'])
    }
  })
})
