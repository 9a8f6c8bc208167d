/**
 * The floor: what no service on DynamoDB can avoid, without schema, condition, token or index. A POST reads the agent's
 * item, writes the execution's item, and updates it; a POST to /async writes it and sends a message, which a second
 * process claims, finishes and deletes. Arguments: the endpoint of the table and the id of the agent; for the second
 * process both endpoints and the queue's URL.
 */
import { fork } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { clientConfig, createRequestHandler } from '../../lib/aws-sdk.ts'
import { toItem } from '../../lib/dynamodb/executions/execution-item.ts'
import { agentKey, executionKey } from '../../lib/dynamodb/table/keys.ts'
import { TABLE } from '../../lib/dynamodb/table/schema.ts'
import { openTable } from '../../lib/dynamodb/table/table.ts'
import { DYNAMODB_ENDPOINT, TABLE_NAME } from '../../lib/environment.ts'
import { system } from '../../lib/system.ts'
import { DEVELOPMENT_ORGANIZATION } from '../../local/development.ts'
import { LOCAL_QUEUE, LOCAL_TABLE, provisionQueues } from '../../local/emulators/provision.ts'
import { anExecution } from '../../test/support/engine/executions.ts'
import { startSqs } from '../../test/support/service/port-emulators.ts'
import { serveAsChild } from '../harness/child-process.ts'

const FLOOR_TABLE = 'floor'
const LEASE_MS = 60_000
/** What the end of a run removes. */
const REMOVED = ['leaseOwner', 'leaseExpiresAt', 'openShard', 'openOwner', 'openUntil']

/** Batches of ten messages in process at the same time: as many runs as in the service. */
const BATCHES = 3

const [endpoint = '', agentId = '', queueUrl] = process.argv.slice(2)
const client = DynamoDBDocumentClient.from(new DynamoDBClient(clientConfig(endpoint)))
if (queueUrl) startRunner(agentId, queueUrl)
else await serve()

async function serve(): Promise<void> {
  await createTable()
  const template = await executionTemplate()
  const sqs = await startSqs()
  const { runs } = await provisionQueues(sqs.endpoint, LOCAL_QUEUE, LEASE_MS / 1000)
  const queue = new SQSClient(clientConfig(sqs.endpoint))
  fork(fileURLToPath(import.meta.url), [endpoint, sqs.endpoint, runs])

  const put = async (input: unknown): Promise<string> => {
    const id = system.newId()
    const Item = { ...template, ...executionKey(id), id, listOrder: id, input }
    await client.send(new PutCommand({ TableName: FLOOR_TABLE, Item }))
    return id
  }
  const accept = async (input: unknown) => {
    const id = await put(input)
    await queue.send(new SendMessageCommand({ QueueUrl: runs, MessageBody: id }))
    return { id }
  }
  const run = async (input: unknown) => {
    await client.send(
      new GetCommand({ TableName: LOCAL_TABLE, Key: agentKey(agentId), ConsistentRead: true }),
    )
    await finish(await put(input), input)
    return input
  }
  serveAsChild(async (request, response) => {
    try {
      const input: unknown = JSON.parse(await text(request))
      const isAsync = request.url === '/async'
      const body = JSON.stringify(await (isAsync ? accept(input) : run(input)))
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      response.writeHead(isAsync ? 202 : 200, headers).end(body)
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
}

function startRunner(sqsEndpoint: string, QueueUrl: string): void {
  const requestHandler = createRequestHandler(LEASE_MS)
  const queue = new SQSClient({ ...clientConfig(sqsEndpoint), requestHandler })
  const processBatch = async () => {
    const { Messages = [] } = await queue.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 10 }),
    )
    await Promise.all(Messages.map(async ({ Body: id = '' }) => finish(id, await claim(id))))
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }))
    if (Entries.length > 0) await queue.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))
  }
  process.once('disconnect', () => process.exit(0))
  for (let i = 0; i < BATCHES; i++) void repeat(processBatch)
}

async function repeat(action: () => Promise<void>): Promise<never> {
  for (;;) await action()
}

/** @returns the run's input */
async function claim(id: string): Promise<unknown> {
  const values = { leaseOwner: system.newId(), leaseExpiresAt: Date.now() + LEASE_MS, attempts: 1 }
  return (await update(id, values, [], 'ALL_NEW'))?.input
}

async function finish(id: string, output: unknown): Promise<void> {
  await update(id, { status: 'SUCCESS', output, finishedAt: new Date().toISOString(), steps: 0 }, REMOVED)
}

async function update(id: string, values: object, removed: string[], ReturnValues?: 'ALL_NEW') {
  const set = Object.keys(values).map((name) => `#${name} = :${name}`)
  const remove = removed.length > 0 ? ` REMOVE ${removed.map((name) => `#${name}`).join(', ')}` : ''
  const names = [...Object.keys(values), ...removed].map((name) => [`#${name}`, name])
  const { Attributes } = await client.send(
    new UpdateCommand({
      ...{ TableName: FLOOR_TABLE, Key: executionKey(id), ReturnValues },
      UpdateExpression: `SET ${set.join(', ')}${remove}`,
      ExpressionAttributeNames: Object.fromEntries(names),
      ExpressionAttributeValues: Object.fromEntries(
        Object.entries(values).map(([name, value]) => [`:${name}`, value]),
      ),
    }),
  )
  return Attributes
}

/** An execution as the service stores it when a run starts. */
async function executionTemplate(): Promise<Record<string, unknown>> {
  const lease = { owner: system.newId(), expiresAt: system.now() + LEASE_MS }
  const organizationId = DEVELOPMENT_ORGANIZATION.id
  const execution = anExecution({ organizationId, agentId, input: {}, lease })
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
