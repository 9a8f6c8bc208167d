import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  ResourceInUseException,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { clientConfig } from '../lib/aws-sdk.ts'
import { MAX_ATTEMPTS } from '../lib/core/limits.ts'
import { INDEXES, TABLE } from '../lib/dynamodb/schema.ts'
import { SQS_ENDPOINT } from '../lib/environment.ts'
import { until } from './until.ts'

/** On the embedded emulator, or on that of `SQS_ENDPOINT`. */
export const QUEUE_NAME = 'agent-executions'

/** Creates the table that the stack would create, unless it exists; a table of an earlier version gets the missing indexes. */
export async function provisionTable(endpoint: string, name: string): Promise<void> {
  const client = new DynamoDBClient(clientConfig(endpoint))
  try {
    await client.send(new CreateTableCommand(tableDefinition(name)))
    const isActive = async () => (await describeTable(client, name))?.TableStatus === 'ACTIVE'
    await until(isActive, { what: `table ${name} to be active`, limitMs: 30_000 })
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error
    await addMissingIndexes(client, name)
  }
}

async function describeTable(client: DynamoDBClient, name: string) {
  return (await client.send(new DescribeTableCommand({ TableName: name }))).Table
}

async function addMissingIndexes(client: DynamoDBClient, name: string): Promise<void> {
  const indexes = (await describeTable(client, name))?.GlobalSecondaryIndexes
  const known = new Set(indexes?.map(({ IndexName }) => IndexName))
  const { AttributeDefinitions, GlobalSecondaryIndexes } = tableDefinition(name)
  for (const index of GlobalSecondaryIndexes.filter(({ IndexName }) => !known.has(IndexName))) {
    const GlobalSecondaryIndexUpdates = [{ Create: index }]
    await client.send(
      new UpdateTableCommand({ TableName: name, AttributeDefinitions, GlobalSecondaryIndexUpdates }),
    )
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
  const client = new SQSClient(clientConfig(endpoint))
  const create = async (QueueName: string, Attributes: Record<string, string> = {}): Promise<string> => {
    const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName, Attributes }))
    return QueueUrl
  }
  const deadLetters = await create(`${name}-dead`).catch((cause) => {
    throw new Error(`No SQS answers at ${endpoint} (${SQS_ENDPOINT}).`, { cause })
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
  return { runs, deadLetters }
}

type TableDefinition = CreateTableCommandInput & { GlobalSecondaryIndexes: GlobalSecondaryIndex[] }

/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CreateTable.html */
function tableDefinition(name: string): TableDefinition {
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
