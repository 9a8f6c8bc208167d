import { describe, expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../infra/functions/function-settings.ts'
import { OPTION_SETS } from './all-options.ts'
import { findResource, findResources, synthesize, variablesOf } from './synthesize.ts'

const NAME = 'AgentExecutionService-Restored-20261123'
const template = synthesize()
const paused = synthesize(OPTION_SETS['other values'])
const attached = synthesize({ tableName: NAME, kms: true, deployment: 'canary10Percent5Minutes' })
const live = synthesize({ tableName: NAME, paused: false })

type Template = typeof template

const valuesOf = (of: Template, variable: string) =>
  new Set(FUNCTION_NAMES.map((name) => variablesOf(of, name)[variable]))

const propertiesOf = (of: Template, type: string) =>
  Object.values(findResources(of, `AWS::${type}`)).map(({ Properties }) => Properties)

const switchesOf = (of: Template) => [
  ...propertiesOf(of, 'Lambda::EventSourceMapping').map(({ Enabled = true }) => Enabled),
  ...propertiesOf(of, 'Events::Rule').map(({ State }) => State === 'ENABLED'),
]

describe('tableName', () => {
  it('is the table of every function, and its indexes those of their permissions', () => {
    for (const of of [attached, live]) {
      expect(valuesOf(of, 'TABLE_NAME')).toEqual(new Set([NAME]))
      const resources = propertiesOf(of, 'IAM::Policy')
        .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
        .filter(({ Action }) => JSON.stringify(Action).includes('dynamodb:'))
        .map(({ Resource }) => JSON.stringify(Resource))
      expect(resources.length).toBeGreaterThan(FUNCTION_NAMES.length)
      for (const resource of resources) expect(resource).toContain(`:table/${NAME}`)
      expect(resources.join()).toContain(`:table/${NAME}/index/open-executions`)
    }
  })

  it('is what the dashboard, the alarms and the output show', () => {
    const [tableId = ''] = Object.keys(findResources(live, 'AWS::DynamoDB::Table'))
    const monitoring = ['AWS::CloudWatch::Dashboard', 'AWS::CloudWatch::Alarm'].map((type) =>
      JSON.stringify(findResources(live, type)),
    )
    expect(monitoring[0]).toContain(NAME)
    for (const text of monitoring) expect(text).not.toContain(tableId)
    expect(live.findOutputs('TableName').TableName?.Value).toBe(NAME)
  })

  it('leaves the table of the stack as it is, and creates no other', () => {
    const tables = (of: Template) => findResources(of, 'AWS::DynamoDB::Table')
    expect(tables(live)).toEqual(tables(template))
    const [own] = Object.values(tables(attached))
    expect(own?.DeletionPolicy).toBe('RetainExceptOnCreate')
  })
})

describe('paused', () => {
  it.each<[string, Template, boolean]>([
    ['by default', template, false],
    ['paused=true', paused, true],
    ['tableName', attached, true],
    ['tableName and paused=false', live, false],
  ])('with %s', (_, of, isPaused) => {
    expect(valuesOf(of, 'PAUSED')).toEqual(new Set([isPaused ? 'on' : undefined]))
    const switches = switchesOf(of)
    expect(switches.length).toBeGreaterThanOrEqual(3)
    expect(new Set(switches)).toEqual(new Set([!isPaused]))
    expect(Object.keys(of.findOutputs('Paused'))).toHaveLength(isPaused ? 1 : 0)
  })

  it('is deployed at once: the alarms that it raises would undo a canary', () => {
    attached.resourceCountIs('AWS::CodeDeploy::DeploymentGroup', 0)
    expect(findResource(attached, 'AWS::Events::Rule').Properties.State).toBe('DISABLED')
  })
})
