import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  UpdateTableCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs'
import { MAX_ATTEMPTS } from '../../lib/core/limits.ts'
import { INDEXES, TABLE } from '../../lib/dynamodb/schema.ts'
import { clientConfig } from '../../lib/dynamodb/table.ts'
import { SQS_ENDPOINT } from '../../lib/environment.ts'
import { sqsConfig } from '../../lib/sqs/run-queue.ts'

/** On the embedded emulator, or on that of `SQS_ENDPOINT`. */
export const QUEUE_NAME = 'agent-executions'

/** Makes the table that the stack would make, unless it is there; one of an earlier version gets the indexes that it lacks. */
export async function provisionTable(endpoint: string, name: string): Promise<void> {
  const client = new DynamoDBClient(clientConfig(endpoint))
  try {
    await client.send(new CreateTableCommand(tableDefinition(name)))
    await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 0.02, maxDelay: 1 }, { TableName: name })
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error
    await addMissingIndexes(client, name)
  } finally {
    client.destroy()
  }
}

async function addMissingIndexes(client: DynamoDBClient, name: string): Promise<void> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: name }))
  const known = new Set(Table?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName))
  const { AttributeDefinitions, GlobalSecondaryIndexes = [] } = tableDefinition(name)
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
  const client = new SQSClient(sqsConfig(endpoint))
  try {
    const dead = await client.send(new CreateQueueCommand({ QueueName: `${name}-dead` })).catch((cause) => {
      throw new Error(`No SQS answers at ${endpoint} (${SQS_ENDPOINT}).`, { cause })
    })
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: dead.QueueUrl, AttributeNames: ['QueueArn'] }),
    )
    const { QueueUrl } = await client.send(
      new CreateQueueCommand({
        QueueName: name,
        Attributes: {
          VisibilityTimeout: String(visibilitySeconds),
          RedrivePolicy: JSON.stringify({
            deadLetterTargetArn: Attributes?.QueueArn,
            maxReceiveCount: MAX_ATTEMPTS,
          }),
        },
      }),
    )
    return { runs: QueueUrl ?? '', deadLetters: dead.QueueUrl ?? '' }
  } finally {
    client.destroy()
  }
}

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

function keySchema(partitionKey: string, sortKey: string): CreateTableCommandInput['KeySchema'] {
  return [
    { AttributeName: partitionKey, KeyType: 'HASH' },
    { AttributeName: sortKey, KeyType: 'RANGE' },
  ]
}
