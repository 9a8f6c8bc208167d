import { describe, expect, it } from 'vitest'
import { INDEXES } from '../../lib/dynamodb/table/schema.ts'
import { findResource, findResources, synthesize } from './synthesize.ts'

type Properties = Record<string, unknown>

/** Properties of the table and of each of its indexes. */
function tableOf(context: Record<string, unknown>) {
  const template = synthesize(context)
  const { Properties } = findResource(template, 'AWS::DynamoDB::Table')
  const all: Properties[] = [Properties, ...Properties.GlobalSecondaryIndexes]
  expect(all).toHaveLength(1 + Object.keys(INDEXES).length)
  const read = (name: string) => all.map(({ [name]: value }) => value)
  return { template, Properties, read }
}

const everywhere = (value: unknown) => Array(1 + Object.keys(INDEXES).length).fill(value)

describe('the throughput of the table and of all indexes', () => {
  it('is on demand without limits by default', () => {
    const { Properties, read, template } = tableOf({})
    expect(Properties.BillingMode).toBe('PAY_PER_REQUEST')
    for (const name of ['WarmThroughput', 'OnDemandThroughput', 'ProvisionedThroughput'])
      expect(read(name)).toEqual(everywhere(undefined))
    template.resourceCountIs('AWS::ApplicationAutoScaling::ScalableTarget', 0)
  })

  it('is warmed', () => {
    const { read } = tableOf({ warmReadUnits: 30_000, warmWriteUnits: 20_000 })
    expect(read('WarmThroughput')).toEqual(
      everywhere({ ReadUnitsPerSecond: 30_000, WriteUnitsPerSecond: 20_000 }),
    )
  })

  it('is limited on demand', () => {
    const { read } = tableOf({ maxReadUnits: 500, maxWriteUnits: 300 })
    expect(read('OnDemandThroughput')).toEqual(
      everywhere({ MaxReadRequestUnits: 500, MaxWriteRequestUnits: 300 }),
    )
    expect(tableOf({ maxWriteUnits: 300 }).read('OnDemandThroughput')).toEqual(
      everywhere({ MaxWriteRequestUnits: 300 }),
    )
  })

  it('is provisioned and scales', () => {
    const { Properties, read, template } = tableOf({
      provisionedReadUnits: 20,
      provisionedWriteUnits: 10,
      maxWriteUnits: 40,
    })
    expect(Properties.BillingMode).toBeUndefined()
    expect(read('ProvisionedThroughput')).toEqual(
      everywhere({ ReadCapacityUnits: 20, WriteCapacityUnits: 10 }),
    )
    expect(read('OnDemandThroughput')).toEqual(everywhere(undefined))
    const targets = Object.values(findResources(template, 'AWS::ApplicationAutoScaling::ScalableTarget'))
    const limits = targets.map(({ Properties }) => [
      Properties.ScalableDimension,
      Properties.MinCapacity,
      Properties.MaxCapacity,
    ])
    expect(new Set(limits.map((limit) => limit.join(' ')))).toEqual(
      new Set([
        'dynamodb:table:ReadCapacityUnits 20 200',
        'dynamodb:table:WriteCapacityUnits 10 40',
        'dynamodb:index:ReadCapacityUnits 20 200',
        'dynamodb:index:WriteCapacityUnits 10 40',
      ]),
    )
    expect(targets).toHaveLength(2 * (1 + Object.keys(INDEXES).length))
  })

  it.each([
    [{ provisionedReadUnits: 5 }, 'set both provisionedReadUnits and provisionedWriteUnits'],
    [
      { provisionedReadUnits: 5, provisionedWriteUnits: 5, maxReadUnits: 4 },
      'maxReadUnits must not be less than provisionedReadUnits',
    ],
    [{ warmWriteUnits: 3_999 }, 'Invalid context value warmWriteUnits'],
  ])('rejects %j', (context, message) => {
    expect(() => synthesize(context)).toThrow(message)
  })
})
