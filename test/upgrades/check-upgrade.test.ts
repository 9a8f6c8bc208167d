import { describe, expect, it } from 'vitest'
import { synthesize } from '../infra/synthesize.ts'
import { readBaseline } from './baseline-files.ts'
import { findUpgradeProblems, pickKept, type Template } from './check-upgrade.ts'

const { template: baseline } = readBaseline()
const template = synthesize().toJSON() as Template

const idOf = (type: string): string => {
  const [id, ...others] = Object.keys(template.Resources).filter(
    (id) => template.Resources[id]?.Type === type,
  )
  if (!id || others.length > 0) throw new Error(`Expected exactly one ${type}.`)
  return id
}
const TABLE = idOf('AWS::DynamoDB::Table')
const API = idOf('AWS::ApiGateway::RestApi')
const STAGE = idOf('AWS::ApiGateway::Stage')

type Properties = ReturnType<typeof JSON.parse>

const INDEXES: string[] = template.Resources[TABLE]?.Properties?.GlobalSecondaryIndexes.map(
  ({ IndexName }: Properties) => IndexName,
)
const LAST = INDEXES.at(-1)

/** The problems of an update from the template to a changed copy of it. */
function problemsAfter(change: (resources: Properties, table: Properties) => void): string[] {
  const changed: Template = structuredClone(template)
  change(changed.Resources, changed.Resources[TABLE]?.Properties)
  return findUpgradeProblems(pickKept(template), changed)
}

const anIndex = (IndexName: string) => ({
  IndexName,
  KeySchema: [{ AttributeName: 'newKey', KeyType: 'HASH' }],
  Projection: { ProjectionType: 'KEYS_ONLY' },
})

describe('the stack', () => {
  it('has a baseline with nothing but what is compared', () => {
    expect(pickKept(baseline)).toEqual(baseline)
    expect(Object.keys(pickKept(template).Resources)).toEqual(expect.arrayContaining([TABLE, API, STAGE]))
    expect(Object.keys(baseline.Resources).sort()).toEqual([TABLE, API, STAGE].sort())
  })

  it('can be updated from the baseline', () => {
    expect(findUpgradeProblems(baseline, template)).toEqual([])
  })
})

describe('findUpgradeProblems', () => {
  it.each<[string, Parameters<typeof problemsAfter>[0]]>([
    ['nothing', () => undefined],
    [
      'one new index with a new attribute',
      (_, table) => {
        table.AttributeDefinitions.push({ AttributeName: 'newKey', AttributeType: 'S' })
        table.GlobalSecondaryIndexes.push(anIndex('new'))
      },
    ],
    ['one deleted index', (_, table) => table.GlobalSecondaryIndexes.pop()],
    ['the order of indexes', (_, table) => table.GlobalSecondaryIndexes.reverse()],
    [
      'the order of projected attributes',
      (_, table) => {
        for (const { Projection } of table.GlobalSecondaryIndexes) Projection.NonKeyAttributes?.reverse()
      },
    ],
    [
      'throughput of an index',
      (_, table) =>
        Object.assign(table.GlobalSecondaryIndexes[0], {
          OnDemandThroughput: { MaxReadRequestUnits: 100 },
        }),
    ],
    [
      'encryption and deletion protection',
      (_, table) =>
        Object.assign(table, { SSESpecification: { SSEEnabled: true }, DeletionProtectionEnabled: true }),
    ],
    [
      'the name of the API and its endpoint',
      (resources) =>
        Object.assign(resources[API].Properties, { Name: 'Other', DisableExecuteApiEndpoint: true }),
    ],
    [
      'the deployment of the stage',
      (resources) => Object.assign(resources[STAGE].Properties, { DeploymentId: { Ref: 'Other' } }),
    ],
    [
      'other resources',
      (resources) => {
        for (const [id, { Type }] of Object.entries<Properties>(resources))
          if (Type === 'AWS::Lambda::Function') delete resources[id]
      },
    ],
  ])('allows to change %s', (_, change) => {
    expect(problemsAfter(change)).toEqual([])
  })

  it.each([TABLE, API, STAGE])('rejects another logical id of %s', (id) => {
    const problems = problemsAfter((resources) => {
      resources.Other = resources[id]
      delete resources[id]
    })
    expect(problems).toEqual([
      expect.stringMatching(`^${id} .* is removed, or its logical id has changed\\.$`),
    ])
  })

  it.each<[string, string, Parameters<typeof problemsAfter>[0]]>([
    [
      'other keys of the table',
      'KeySchema changes',
      (_, table) => Object.assign(table.KeySchema[0], { AttributeName: 'id' }),
    ],
    ['a name of the table', 'TableName changes', (_, table) => Object.assign(table, { TableName: 'name' })],
    [
      'a local index',
      'LocalSecondaryIndexes changes',
      (_, table) => Object.assign(table, { LocalSecondaryIndexes: [anIndex('local')] }),
    ],
    [
      'another type of a key',
      'the type of the attribute pk changes',
      (_, table) => {
        for (const definition of table.AttributeDefinitions)
          if (definition.AttributeName === 'pk') definition.AttributeType = 'N'
      },
    ],
    [
      'another type of table',
      'it becomes AWS::DynamoDB::GlobalTable',
      (resources) => Object.assign(resources[TABLE], { Type: 'AWS::DynamoDB::GlobalTable' }),
    ],
    [
      'another name of the stage',
      'StageName changes',
      (resources) => Object.assign(resources[STAGE].Properties, { StageName: 'other' }),
    ],
  ])('rejects %s', (_, reason, change) => {
    expect(problemsAfter(change)).toEqual([expect.stringContaining(`is replaced: ${reason}.`)])
  })

  it.each<[string, string, Parameters<typeof problemsAfter>[0]]>([
    [
      'two new indexes',
      'creates or deletes more than one index: first, second.',
      (_, table) => table.GlobalSecondaryIndexes.push(anIndex('first'), anIndex('second')),
    ],
    [
      'two deleted indexes',
      `creates or deletes more than one index: ${INDEXES.at(-2)}, ${LAST}.`,
      (_, table) => table.GlobalSecondaryIndexes.splice(-2),
    ],
    [
      'a renamed index',
      `creates or deletes more than one index: new, ${LAST}.`,
      (_, table) => Object.assign(table.GlobalSecondaryIndexes.at(-1), { IndexName: 'new' }),
    ],
    [
      'other keys of an index',
      `edits the index ${LAST}: create one with another name instead.`,
      (_, table) => table.GlobalSecondaryIndexes.at(-1).KeySchema.pop(),
    ],
    [
      'another projection of an index',
      `edits the index ${LAST}: create one with another name instead.`,
      (_, table) => table.GlobalSecondaryIndexes.at(-1).Projection.NonKeyAttributes.push('agentId'),
    ],
  ])('rejects %s', (_, reason, change) => {
    expect(problemsAfter(change)).toEqual([`${TABLE} (AWS::DynamoDB::Table) ${reason}`])
  })
})
