import { describe, expect, it } from 'vitest'
import { INDEXES, TABLE } from '../../../lib/dynamodb/table/schema.ts'
import { findResource, synthesize } from '../synthesize.ts'

const { Properties, DeletionPolicy, UpdateReplacePolicy } = findResource(synthesize(), 'AWS::DynamoDB::Table')

const keys = (partitionKey: string, sortKey: string) => [
  { AttributeName: partitionKey, KeyType: 'HASH' },
  { AttributeName: sortKey, KeyType: 'RANGE' },
]

describe('the table', () => {
  it('has the keys and the TTL attribute of the schema', () => {
    expect(Properties.KeySchema).toEqual(keys(TABLE.partitionKey, TABLE.sortKey))
    expect(Properties.TimeToLiveSpecification).toEqual({ AttributeName: TABLE.timeToLive, Enabled: true })
  })

  it('has the indexes and projections of the schema', () => {
    expect(Properties.GlobalSecondaryIndexes).toEqual(
      Object.entries(INDEXES).map(([IndexName, { partitionKey, sortKey, projection }]) => ({
        IndexName,
        KeySchema: keys(partitionKey.name, sortKey.name),
        Projection:
          projection.length > 0
            ? { ProjectionType: 'INCLUDE', NonKeyAttributes: projection }
            : { ProjectionType: 'KEYS_ONLY' },
      })),
    )
  })

  it('defines the key attributes with the types of the schema', () => {
    const expected = new Map([
      [TABLE.partitionKey, 'S'],
      [TABLE.sortKey, 'S'],
      ...Object.values(INDEXES).flatMap(({ partitionKey, sortKey }): [string, string][] => [
        [partitionKey.name, partitionKey.type],
        [sortKey.name, sortKey.type],
      ]),
    ])
    const defined = Properties.AttributeDefinitions.map(
      ({ AttributeName, AttributeType }: Record<string, string>) => [AttributeName, AttributeType],
    )
    expect(new Map(defined)).toEqual(expected)
  })

  it('is on demand, with point-in-time recovery', () => {
    expect(Properties.BillingMode).toBe('PAY_PER_REQUEST')
    expect(Properties.PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: true })
  })

  it('is retained, except by a first deployment that fails', () => {
    expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain'])
  })

  it.each([
    [{}, false],
    [{ deletionProtection: 'false' }, false],
    [{ deletionProtection: 'true' }, true],
  ])('with %j has deletion protection: %j', (context, expected) => {
    const table = findResource(synthesize(context), 'AWS::DynamoDB::Table')
    expect(table.Properties.DeletionProtectionEnabled).toBe(expected)
  })
})
