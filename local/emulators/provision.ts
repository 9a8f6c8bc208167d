import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  type KeySchemaElement,
  ResourceInUseException,
  UpdateTableCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { clientConfig } from '../../lib/aws-sdk.ts'
import { MAX_ATTEMPTS } from '../../lib/core/limits.ts'
import { INDEXES, TABLE } from '../../lib/dynamodb/table/schema.ts'
import { SQS_ENDPOINT } from '../../lib/environment.ts'

/** Names on the emulators, embedded or not. */
export const LOCAL_TABLE = 'agent-execution-service'
export const LOCAL_QUEUE = 'agent-executions'

const WAIT = { maxWaitTime: 30, minDelay: 0.1, maxDelay: 1 }

/** Creates the table that the stack would create; in one that exists, the indexes that it does not have yet. */
export async function provisionTable(endpoint: string, name: string): Promise<void> {
  const client = new DynamoDBClient(clientConfig(endpoint))
  try {
    await client.send(new CreateTableCommand(tableDefinition(name)))
    await waitUntilTableExists({ client, ...WAIT }, { TableName: name })
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error
    await createMissingIndexes(client, name)
  }
}

/** One at a time, as DynamoDB requires. dynalite cannot: there, runs continue without what they would read. */
async function createMissingIndexes(client: DynamoDBClient, name: string): Promise<void> {
  const { AttributeDefinitions, GlobalSecondaryIndexes = [] } = tableDefinition(name)
  const { Table } = await client.send(new DescribeTableCommand({ TableName: name }))
  const existing = new Set(Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName))
  for (const index of GlobalSecondaryIndexes.filter(({ IndexName }) => !existing.has(IndexName))) {
    const update = { TableName: name, AttributeDefinitions, GlobalSecondaryIndexUpdates: [{ Create: index }] }
    try {
      await client.send(new UpdateTableCommand(update))
    } catch (error) {
      if (error instanceof Error && error.name === 'ValidationException') return
      throw error
    }
    await waitUntilTableExists({ client, ...WAIT }, { TableName: name })
  }
}

/** URLs of the run queue, its dead-letter queue, and the delivery queue. */
export type Queues = { runs: string; deadLetters: string; deliveries: string }

export const deliveryQueueOf = (name: string): string => `${name}-deliveries`

/** As on AWS: longer than an attempt to deliver an event takes. */
const DELIVERY_VISIBILITY_SECONDS = 60

/**
 * Creates the queues, unless they exist.
 * @throws an Error when no SQS responds at the endpoint
 */
export async function provisionQueues(
  endpoint: string,
  name: string,
  visibilitySeconds: number,
): Promise<Queues> {
  const client = new SQSClient(clientConfig(endpoint))
  const create = async (QueueName: string, Attributes: Record<string, string> = {}): Promise<string> => {
    const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName, Attributes }))
    return QueueUrl
  }
  const deadLetters = await create(`${name}-dead`).catch((cause) => {
    throw new Error(`No SQS responds at ${endpoint} (${SQS_ENDPOINT}).`, { cause })
  })
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: deadLetters, AttributeNames: ['QueueArn'] }),
  )
  const runs = await create(name, {
    VisibilityTimeout: String(visibilitySeconds),
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: Attributes?.QueueArn,
      maxReceiveCount: MAX_ATTEMPTS,
    }),
  })
  const deliveries = await create(deliveryQueueOf(name), {
    VisibilityTimeout: String(DELIVERY_VISIBILITY_SECONDS),
  })
  return { runs, deadLetters, deliveries }
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateTable.html */
function tableDefinition(name: string): CreateTableCommandInput {
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

function keySchema(partitionKey: string, sortKey: string): KeySchemaElement[] {
  return [
    { AttributeName: partitionKey, KeyType: 'HASH' },
    { AttributeName: sortKey, KeyType: 'RANGE' },
  ]
}
