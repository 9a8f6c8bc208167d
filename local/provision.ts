import type { AwsClient } from '../lib/aws/aws-client.ts'
import { AwsFault } from '../lib/aws/aws-fault.ts'
import { emulatorIdentity } from '../lib/aws/identity.ts'
import { MAX_ATTEMPTS } from '../lib/core/limits.ts'
import { dynamodbClient } from '../lib/dynamodb/client.ts'
import { INDEXES, TABLE } from '../lib/dynamodb/schema.ts'
import { SQS_ENDPOINT } from '../lib/environment.ts'
import { sqsClient } from '../lib/sqs/client.ts'
import { until } from './until.ts'

/** On the embedded emulator, or on that of `SQS_ENDPOINT`. */
export const QUEUE_NAME = 'agent-executions'

/** Makes the table that the stack would make, unless it is there; one of an earlier version gets the indexes that it lacks. */
export async function provisionTable(endpoint: string, name: string): Promise<void> {
  const client = dynamodbClient(emulatorIdentity(endpoint))
  try {
    await client.call('CreateTable', tableDefinition(name))
    const isActive = async () => (await describe(client, name)).TableStatus === 'ACTIVE'
    await until(isActive, { what: `table ${name} to be active`, limitMs: 30_000 })
  } catch (error) {
    if (!(error instanceof AwsFault) || error.name !== 'ResourceInUseException') throw error
    await addMissingIndexes(client, name)
  } finally {
    client.close()
  }
}

type Description = { TableStatus: string; GlobalSecondaryIndexes?: { IndexName: string }[] }

async function describe(client: AwsClient, name: string): Promise<Description> {
  return (await client.call<{ Table: Description }>('DescribeTable', { TableName: name })).Table
}

async function addMissingIndexes(client: AwsClient, name: string): Promise<void> {
  const known = new Set(
    (await describe(client, name)).GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName),
  )
  const { AttributeDefinitions, GlobalSecondaryIndexes } = tableDefinition(name)
  for (const index of GlobalSecondaryIndexes.filter(({ IndexName }) => !known.has(IndexName))) {
    const GlobalSecondaryIndexUpdates = [{ Create: index }]
    await client.call('UpdateTable', { TableName: name, AttributeDefinitions, GlobalSecondaryIndexUpdates })
  }
}

/** Addresses of the run queue and its dead-letter queue. */
export type Queues = { runs: string; deadLetters: string }

/**
 * Makes the run queue and its dead-letter queue, unless they are there. A message that was received is hidden for `visibilitySeconds`.
 * @throws an Error when no SQS answers at the endpoint
 */
export async function provisionQueues(
  endpoint: string,
  name: string,
  visibilitySeconds: number,
): Promise<Queues> {
  const client = sqsClient(emulatorIdentity(endpoint))
  const create = (QueueName: string, Attributes: Record<string, string> = {}) =>
    client.call<{ QueueUrl: string }>('CreateQueue', { QueueName, Attributes })
  try {
    const dead = await create(`${name}-dead`).catch((cause) => {
      throw new Error(`No SQS answers at ${endpoint} (${SQS_ENDPOINT}).`, { cause })
    })
    const { Attributes } = await client.call<{ Attributes: Record<string, string> }>('GetQueueAttributes', {
      QueueUrl: dead.QueueUrl,
      AttributeNames: ['QueueArn'],
    })
    const { QueueUrl } = await create(name, {
      VisibilityTimeout: String(visibilitySeconds),
      RedrivePolicy: JSON.stringify({
        deadLetterTargetArn: Attributes.QueueArn,
        maxReceiveCount: MAX_ATTEMPTS,
      }),
    })
    return { runs: QueueUrl, deadLetters: dead.QueueUrl }
  } finally {
    client.close()
  }
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateTable.html */
function tableDefinition(name: string) {
  const types = new Map<string, 'S' | 'N'>([
    [TABLE.partitionKey, 'S'],
    [TABLE.sortKey, 'S'],
  ])
  for (const { partitionKey, sortKey } of Object.values(INDEXES)) {
    types.set(partitionKey.name, partitionKey.type).set(sortKey.name, sortKey.type)
  }
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [...types].map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    KeySchema: keySchema(TABLE.partitionKey, TABLE.sortKey),
    GlobalSecondaryIndexes: Object.entries(INDEXES).map(
      ([IndexName, { partitionKey, sortKey, projection }]) => ({
        IndexName,
        KeySchema: keySchema(partitionKey.name, sortKey.name),
        Projection:
          projection.length > 0
            ? { ProjectionType: 'INCLUDE', NonKeyAttributes: projection }
            : { ProjectionType: 'KEYS_ONLY' },
      }),
    ),
  }
}

function keySchema(partitionKey: string, sortKey: string) {
  return [
    { AttributeName: partitionKey, KeyType: 'HASH' },
    { AttributeName: sortKey, KeyType: 'RANGE' },
  ]
}
