import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import { OPTION_SETS } from '../all-options.ts'
import { findResource, findResources, type Resource, synthesize, toLogicalIdPrefix } from '../synthesize.ts'

const template = synthesize()
const { Resources } = template.toJSON() as { Resources: Record<string, { Type: string }> }

const idOf = (type: string, name: string): string => {
  const prefix = `${toLogicalIdPrefix(name)}Function`
  const [id, ...others] = Object.keys(findResources(template, type)).filter((key) => key.startsWith(prefix))
  if (!id || others.length > 0) throw new Error(`Expected one ${type} of ${name}.`)
  return id
}

/** Types of resources that need a function and not one of its versions: a version itself, its alias, and metrics. */
const OF_FUNCTIONS = [
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::Lambda::Alias',
  'AWS::Lambda::Version',
]

describe('a release of a function', () => {
  it.each(FUNCTION_NAMES)('is a version, to which the alias "live" points: %s', (name) => {
    expect(aliasOf(template, name).Properties).toEqual({
      Name: 'live',
      FunctionName: { Ref: idOf('AWS::Lambda::Function', name) },
      FunctionVersion: { 'Fn::GetAtt': [idOf('AWS::Lambda::Version', name), 'Version'] },
    })
  })

  it('is retained by later releases, but not if it fails', () => {
    const policies = Object.values(findResources(template, 'AWS::Lambda::Version')).map(
      ({ DeletionPolicy, UpdateReplacePolicy }) => [DeletionPolicy, UpdateReplacePolicy],
    )
    expect(policies).toEqual(FUNCTION_NAMES.map(() => ['RetainExceptOnCreate', 'Retain']))
  })

  it.each(FUNCTION_NAMES)('is all that invokes %s: nothing else refers to the function', (name) => {
    const id = JSON.stringify(idOf('AWS::Lambda::Function', name))
    const others = Object.entries(Resources).filter(([, resource]) => JSON.stringify(resource).includes(id))
    expect(
      [...new Set(others.map(([, { Type }]) => Type))].filter((type) => !OF_FUNCTIONS.includes(type)),
    ).toEqual([])
  })

  it('is another version only if the configuration of the function changes', () => {
    const versionsOf = (context: Record<string, unknown>) =>
      Object.keys(findResources(synthesize(context), 'AWS::Lambda::Version'))
    const changed = (context: Record<string, unknown>) =>
      versionsOf(context)
        .filter((id) => !versionsOf({}).includes(id))
        .map((id) => id.replace(/Function.*/, ''))
    expect(changed({ throttlingRate: 7 })).toEqual([])
    expect(changed({ httpPublishing: true })).toEqual(['GetMe', 'PublishAgent'])
  })
})

type Alias = Resource & {
  UpdatePolicy?: { CodeDeployLambdaAliasUpdate: Record<string, { Ref: string }> }
}

const aliasOf = (template: ReturnType<typeof synthesize>, name: string): Alias => {
  const prefix = `${toLogicalIdPrefix(name)}FunctionAlias`
  const aliases = Object.entries(findResources(template, 'AWS::Lambda::Alias'))
  const [found] = aliases.filter(([id]) => id.startsWith(prefix))
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
  const groups = findResources(template, 'AWS::CodeDeploy::DeploymentGroup')
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
    const names = ['AuthorizerErrors', 'EnqueueFailures', 'RunnerErrors', 'ServerErrorRate', 'SweepFailures']
    for (const group of Object.values(groups)) {
      const { DeploymentConfigName, AutoRollbackConfiguration, AlarmConfiguration } = group.Properties
      expect(DeploymentConfigName).toBe('CodeDeployDefault.LambdaCanary10Percent5Minutes')
      const Events = ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_REQUEST', 'DEPLOYMENT_STOP_ON_ALARM']
      expect(AutoRollbackConfiguration).toEqual({ Enabled: true, Events })
      const alarms = AlarmConfiguration.Alarms.map(({ Name }: { Name: { Ref: string } }) => Name.Ref)
      expect(AlarmConfiguration.Enabled).toBe(true)
      expect(alarms.map((name: string) => name.replace(/Alarm.*/, '')).sort()).toEqual(names)
    }
  })
})
