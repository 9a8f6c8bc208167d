import { describe, expect, it } from 'vitest'
import { getFunctionSettings } from '../../infra/functions/function-settings.ts'
import { MAX_ATTEMPTS } from '../../lib/core/limits.ts'
import { INDEXES, TABLE } from '../../lib/dynamodb/table/schema.ts'
import { SETTINGS_TAG } from '../../lib/dynamodb/table/settings-tag.ts'
import { OPTION_SETS } from './all-options.ts'
import { findResource, findResources, synthesize } from './synthesize.ts'

const template = synthesize()
const every = synthesize(OPTION_SETS['every option'])
const other = synthesize(OPTION_SETS['other values'])
const { Properties, DeletionPolicy, UpdateReplacePolicy } = findResource(template, 'AWS::DynamoDB::Table')

const keys = (partitionKey: string, sortKey: string) => [
  { AttributeName: partitionKey, KeyType: 'HASH' },
  { AttributeName: sortKey, KeyType: 'RANGE' },
]

describe('the table', () => {
  it('has the keys and the TTL attribute of the schema, and point-in-time recovery', () => {
    expect(Properties.KeySchema).toEqual(keys(TABLE.partitionKey, TABLE.sortKey))
    expect(Properties.TimeToLiveSpecification).toEqual({ AttributeName: TABLE.timeToLive, Enabled: true })
    expect(Properties.PointInTimeRecoverySpecification).toEqual({ PointInTimeRecoveryEnabled: true })
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

  it('tells commands how long items are kept, and whether there is an event bus', () => {
    const tagOf = (of: typeof template) =>
      findResource(of, 'AWS::DynamoDB::Table').Properties.Tags.find(
        ({ Key }: { Key: string }) => Key === SETTINGS_TAG,
      ).Value
    expect(tagOf(template)).toBe('AUDIT_RETENTION_DAYS=400')
    expect(tagOf(every)).toBe(
      'AUDIT_RETENTION_DAYS=90 EXECUTION_RETENTION_DAYS=30 MAX_WAIT_DAYS=365 EVENT_BUS=on',
    )
  })

  it('is retained, except by a first deployment that fails, and has deletion protection if it is set', () => {
    expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain'])
    const protectionOf = (of: typeof template) =>
      findResource(of, 'AWS::DynamoDB::Table').Properties.DeletionProtectionEnabled
    expect([template, every].map(protectionOf)).toEqual([false, true])
  })

  // CloudFormation would create others, with an empty table and another URL.
  it('keeps the logical ids of the table, the API and its stage', () => {
    const ids = ['DynamoDB::Table', 'ApiGateway::RestApi', 'ApiGateway::Stage'].flatMap((type) =>
      Object.keys(findResources(template, `AWS::${type}`)),
    )
    expect(ids).toEqual(['TableCD117FA1', 'ApiF70053CD', 'ApiDeploymentStagelive43C16EA7'])
  })
})

describe('the throughput of the table and of all indexes', () => {
  const tables = 1 + Object.keys(INDEXES).length
  const readFrom = (of: typeof template, property: string) => {
    const { Properties } = findResource(of, 'AWS::DynamoDB::Table')
    const all: Record<string, unknown>[] = [Properties, ...Properties.GlobalSecondaryIndexes]
    expect(all).toHaveLength(tables)
    return all.map((each) => each[property])
  }
  const everywhere = (value: unknown) => Array(tables).fill(value)
  const LIMITED = { MaxReadRequestUnits: 100, MaxWriteRequestUnits: 100 }
  const WARM = { ReadUnitsPerSecond: 20_000, WriteUnitsPerSecond: 10_000 }

  it.each<[string, typeof template, unknown, unknown, unknown]>([
    ['on demand without limits by default', template, undefined, undefined, undefined],
    ['warmed and provisioned', every, WARM, undefined, { ReadCapacityUnits: 10, WriteCapacityUnits: 10 }],
    ['warmed and limited on demand', other, WARM, LIMITED, undefined],
  ])('is %s', (_, of, warm, onDemand, provisioned) => {
    expect(readFrom(of, 'WarmThroughput')).toEqual(everywhere(warm))
    expect(readFrom(of, 'OnDemandThroughput')).toEqual(everywhere(onDemand))
    expect(readFrom(of, 'ProvisionedThroughput')).toEqual(everywhere(provisioned))
    const { BillingMode } = findResource(of, 'AWS::DynamoDB::Table').Properties
    expect(BillingMode).toBe(provisioned ? undefined : 'PAY_PER_REQUEST')
  })

  it('scales if it is provisioned', () => {
    const type = 'AWS::ApplicationAutoScaling::ScalableTarget'
    template.resourceCountIs(type, 0)
    const limits = Object.values(findResources(every, type)).map(({ Properties }) =>
      [Properties.ScalableDimension, Properties.MinCapacity, Properties.MaxCapacity].join(' '),
    )
    expect(limits).toHaveLength(2 * tables)
    const dimensions = ['table:Read', 'table:Write', 'index:Read', 'index:Write']
    expect(new Set(limits)).toEqual(new Set(dimensions.map((each) => `dynamodb:${each}CapacityUnits 10 100`)))
  })
})

const queues = findResources(template, 'AWS::SQS::Queue')
const findQueueId = (prefix: string) => Object.keys(queues).find((id) => id.startsWith(prefix)) ?? ''
const [queueId = '', modelQueueId = '', deadLetterId = '', deliveryId = ''] = [
  'Queue',
  'ModelQueue',
  'DeadLetterQueue',
  'DeliveryQueue',
].map(findQueueId)

describe('the queues', () => {
  it('are two run queues and their dead-letter queue, which keeps messages for 14 days, and a delivery queue', () => {
    const deadLetterTargetArn = { 'Fn::GetAtt': [deadLetterId, 'Arn'] }
    const policy = { RedrivePolicy: { deadLetterTargetArn, maxReceiveCount: MAX_ATTEMPTS } }
    expect(Object.keys(queues)).toHaveLength(4)
    expect(queues).toMatchObject({
      [queueId]: { Properties: policy },
      [modelQueueId]: { Properties: policy },
      [deadLetterId]: { Properties: { MessageRetentionPeriod: 14 * 24 * 60 * 60 } },
    })
    for (const id of [deadLetterId, deliveryId]) expect(queues[id]?.Properties.RedrivePolicy).toBeUndefined()
  })

  it.each([
    ['process-execution', queueId],
    ['process-execution', modelQueueId],
    ['process-dead-letter', deadLetterId],
    ['deliver-events', deliveryId],
  ] as const)('of %s are encrypted, require TLS, and hide messages for the function timeout', (name, id) => {
    const { SqsManagedSseEnabled, VisibilityTimeout } = queues[id]?.Properties ?? {}
    expect(SqsManagedSseEnabled).toBe(true)
    expect(VisibilityTimeout).toBeGreaterThanOrEqual(getFunctionSettings(name).timeoutSeconds)
    const policies = Object.values(findResources(template, 'AWS::SQS::QueuePolicy'))
    const policy = policies.find(({ Properties }) => Properties.Queues[0].Ref === id)
    expect(policy?.Properties.PolicyDocument.Statement).toContainEqual({
      Effect: 'Deny',
      Principal: { AWS: '*' },
      Action: 'sqs:*',
      Resource: { 'Fn::GetAtt': [id, 'Arn'] },
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    })
  })
})

describe('the triggers', () => {
  /** `FunctionName` is an expression that contains the alias. */
  const mappings = Object.values(findResources(template, 'AWS::Lambda::EventSourceMapping')).map(
    ({ Properties: { FunctionName, Tags, ...rest } }) => ({
      ...rest,
      FunctionName: JSON.stringify(FunctionName),
    }),
  )

  it.each([
    ['the runner with one run', 1, queueId, 'ProcessExecution', { MaximumConcurrency: 50 }],
    [
      'it with up to ten runs of model agents',
      10,
      modelQueueId,
      'ProcessExecution',
      { MaximumConcurrency: 50 },
    ],
    ['process-dead-letter with up to ten dead letters', 10, deadLetterId, 'ProcessDeadLetter', undefined],
  ])('invoke %s, and report batch item failures', (_, BatchSize, id, prefix, ScalingConfig) => {
    expect(mappings).toContainEqual({
      BatchSize,
      EventSourceArn: { 'Fn::GetAtt': [id, 'Arn'] },
      FunctionName: expect.stringContaining(`"${prefix}FunctionAlias`),
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig,
    })
  })

  it('invoke the sweeper every minute', () => {
    const { ScheduleExpression, Targets, State } = findResource(template, 'AWS::Events::Rule').Properties
    expect([ScheduleExpression, State]).toEqual(['rate(1 minute)', 'ENABLED'])
    expect(Targets).toEqual([
      {
        Id: 'Target0',
        Arn: { Ref: expect.stringMatching(/^SweepExecutionsFunctionAlias/) },
        RetryPolicy: { MaximumRetryAttempts: 0 },
      },
    ])
  })
})
