import { readFileSync } from 'node:fs'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { v7 } from 'uuid'
import { provisionTable } from '../../local/provision.ts'
import { answerPosts } from './answer-posts.ts'
import type { FloorItems } from './items.ts'

/** The attributes that the end of a run changes. */
const CHANGED = [
  ...['status', 'output', 'finishedAt', 'steps'],
  ...['leaseOwner', 'leaseExpiresAt', 'openShard', 'openOwner', 'openUntil'],
]

/**
 * The floor: what a run costs that nobody can save who keeps it in DynamoDB with the AWS SDK. A process of its own; reads
 * the agent's item, writes the execution's at start and at end. No check, no condition, no token.
 * Arguments: endpoint, the table's name, the file of `FloorItems`, `indexed` for the indexes that the service's table has.
 */
const [endpoint = '', TableName = '', file = '', kind] = process.argv.slice(2)
const { agent, execution, output } = JSON.parse(readFileSync(file, 'utf8')) as FloorItems
const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
const client = DynamoDBDocumentClient.from(new DynamoDBClient({ endpoint, region: 'local', credentials }))

await (kind === 'indexed' ? provisionTable(endpoint, TableName) : createBareTable())
await client.send(new PutCommand({ TableName, Item: agent }))
const agentKey = { pk: agent.pk, sk: agent.sk }

answerPosts(async (input) => {
  await client.send(new GetCommand({ TableName, Key: agentKey, ConsistentRead: true }))
  const id = v7()
  const Key = { pk: `EXEC#${id}`, sk: 'RECORD' }
  await client.send(new PutCommand({ TableName, Item: { ...execution, ...Key, id, listOrder: id, input } }))
  await client.send(
    new UpdateCommand({
      TableName,
      Key,
      UpdateExpression:
        'SET #status = :status, #output = :output, #finishedAt = :now, #steps = :steps ' +
        'REMOVE #leaseOwner, #leaseExpiresAt, #openShard, #openOwner, #openUntil',
      ExpressionAttributeNames: Object.fromEntries(CHANGED.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: {
        ':status': 'SUCCESS',
        ':output': output,
        ':now': new Date().toISOString(),
        ':steps': 0,
      },
    }),
  )
  return input
})

async function createBareTable(): Promise<void> {
  const keys = [
    { AttributeName: 'pk', KeyType: 'HASH' as const },
    { AttributeName: 'sk', KeyType: 'RANGE' as const },
  ]
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: keys,
      AttributeDefinitions: keys.map(({ AttributeName }) => ({ AttributeName, AttributeType: 'S' as const })),
    }),
  )
}
