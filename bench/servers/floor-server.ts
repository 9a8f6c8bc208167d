/**
 * The floor: a bare HTTP server that does what no service on DynamoDB can avoid. For each POST it reads the agent's item,
 * writes the execution's item, and updates that at the end. No schema, condition, token or index. The items are those
 * of the service, written with the same SDK options to the same emulator.
 * Arguments: the emulator's endpoint, the id of the agent.
 */
import { text } from 'node:stream/consumers'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { clientConfig } from '../../lib/aws-sdk.ts'
import { newExecution } from '../../lib/core/execution.ts'
import { toItem } from '../../lib/dynamodb/execution-item.ts'
import { agentKey, executionKey } from '../../lib/dynamodb/table/keys.ts'
import { TABLE } from '../../lib/dynamodb/table/schema.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT, TABLE_NAME } from '../../lib/environment.ts'
import { system } from '../../lib/system.ts'
import { DEVELOPMENT_ORGANIZATION } from '../../local/development.ts'
import { LOCAL_TABLE } from '../../local/emulators/provision.ts'
import { serveAsChild } from '../harness/child-process.ts'

const FLOOR_TABLE = 'floor'
const LEASE_MS = 60_000
/** What the end of a run writes, and what it removes. */
const REMOVED = ['leaseOwner', 'leaseExpiresAt', 'openShard', 'openOwner', 'openUntil']
const WRITTEN = ['status', 'output', 'finishedAt', 'steps']

const [endpoint = '', agentId = ''] = process.argv.slice(2)
const client = DynamoDBDocumentClient.from(new DynamoDBClient(clientConfig(endpoint)))
await createTable()
const template = await executionTemplate()

serveAsChild(async (request, response) => {
  try {
    const input = JSON.parse(await text(request))
    await run(input)
    const body = JSON.stringify(input)
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    response.writeHead(200, headers).end(body)
  } catch (error) {
    response.writeHead(500).end(String(error))
  }
})

async function run(input: unknown): Promise<void> {
  await client.send(new GetCommand({ TableName: LOCAL_TABLE, Key: agentKey(agentId), ConsistentRead: true }))
  const id = system.newId()
  const Key = executionKey(id)
  const Item = { ...template, ...Key, id, listOrder: id, input }
  await client.send(new PutCommand({ TableName: FLOOR_TABLE, Item }))
  await client.send(
    new UpdateCommand({
      TableName: FLOOR_TABLE,
      Key,
      UpdateExpression: `SET ${WRITTEN.map((name) => `#${name} = :${name}`).join(', ')} REMOVE ${REMOVED.map((name) => `#${name}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(
        [...WRITTEN, ...REMOVED].map((name) => [`#${name}`, name]),
      ),
      ExpressionAttributeValues: {
        ':status': 'SUCCESS',
        ':output': input,
        ':finishedAt': new Date().toISOString(),
        ':steps': 0,
      },
    }),
  )
}

/** An execution as the service stores it when a run starts. */
async function executionTemplate(): Promise<Record<string, unknown>> {
  const now = system.now()
  const execution = newExecution({
    id: system.newId(),
    organizationId: DEVELOPMENT_ORGANIZATION.id,
    agentId,
    versionId: system.newId(),
    tenantId: null,
    input: {},
    options: { maxAgentSteps: 100, model: null, useDynamicLearning: false },
    now,
    deadlineMs: LEASE_MS,
    lease: { owner: system.newId(), expiresAt: now + LEASE_MS },
  })
  const table = openTable({ [TABLE_NAME]: LOCAL_TABLE, [DYNAMODB_ENDPOINT]: endpoint })
  const item = await toItem(table, execution)
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined))
}

async function createTable(): Promise<void> {
  const keys = [
    { AttributeName: TABLE.partitionKey, KeyType: 'HASH' as const },
    { AttributeName: TABLE.sortKey, KeyType: 'RANGE' as const },
  ]
  await client.send(
    new CreateTableCommand({
      TableName: FLOOR_TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: keys,
      AttributeDefinitions: keys.map(({ AttributeName }) => ({ AttributeName, AttributeType: 'S' as const })),
    }),
  )
}
