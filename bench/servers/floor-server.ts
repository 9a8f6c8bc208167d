/**
 * The floor: what no service on DynamoDB can avoid, without schema, condition, token or index. `dynoxide serve`, and
 * the SDK with its default options. A POST reads the agent's item, writes the execution's item, and updates it; a POST
 * to /async writes it and sends a message, which a second process claims, finishes and deletes. A GET of /<id> responds
 * with the item. Argument: the data folder; for the second process both endpoints and the queue's URL.
 */
import { fork } from 'node:child_process'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { system } from '../../lib/system.ts'
import { startDynamoDB, startSqs } from '../../test/support/service/port-emulators.ts'
import { serveAsChild } from '../harness/child-process.ts'

const TableName = 'floor'
const LEASE_MS = 60_000

/** Batches of ten messages in process at the same time: as many runs as in the service. */
const BATCHES = 3

const stock = (endpoint: string) => ({
  endpoint,
  region: 'local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
})
const keyOf = (id: string) => ({ pk: `EXEC#${id}`, sk: 'RECORD' })
const AGENT = { pk: 'AGENT#floor', sk: 'AGENT' }

const [folderOrEndpoint = '', sqsEndpoint = '', queueUrl = ''] = process.argv.slice(2)
if (queueUrl) startRunner(folderOrEndpoint, sqsEndpoint, queueUrl)
else await serve(folderOrEndpoint)

async function serve(folder: string): Promise<void> {
  const { endpoint } = await startDynamoDB(folder)
  const table = openItems(endpoint)
  await table.create()
  const sqs = await startSqs()
  const queue = new SQSClient(stock(sqs.endpoint))
  const { QueueUrl = '' } = await queue.send(new CreateQueueCommand({ QueueName: 'floor' }))
  fork(fileURLToPath(import.meta.url), [endpoint, sqs.endpoint, QueueUrl])

  const accept = async (input: unknown) => {
    const id = await table.put(input)
    await queue.send(new SendMessageCommand({ QueueUrl, MessageBody: id }))
    return { id }
  }
  const run = async (input: unknown) => {
    await table.get(AGENT)
    await table.finish(await table.put(input), input)
    return input
  }
  const respond = async ({ method, url = '' }: IncomingMessage, body: () => Promise<unknown>) => {
    if (method === 'GET') return table.get(keyOf(url.slice(1)))
    return url === '/async' ? accept(await body()) : run(await body())
  }
  serveAsChild(async (request, response) => {
    try {
      const body = JSON.stringify(await respond(request, async () => JSON.parse(await text(request))))
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      response.writeHead(request.url === '/async' ? 202 : 200, headers).end(body)
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
}

function startRunner(endpoint: string, queueEndpoint: string, QueueUrl: string): void {
  const table = openItems(endpoint)
  const queue = new SQSClient(stock(queueEndpoint))
  const processBatch = async () => {
    const { Messages = [] } = await queue.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 10 }),
    )
    await Promise.all(Messages.map(async ({ Body: id = '' }) => table.finish(id, await table.claim(id))))
    const Entries = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }))
    if (Entries.length > 0) await queue.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))
  }
  process.once('disconnect', () => process.exit(0))
  for (let i = 0; i < BATCHES; i++) void repeat(processBatch)
}

async function repeat(action: () => Promise<void>): Promise<never> {
  for (;;) await action()
}

function openItems(endpoint: string) {
  const client = DynamoDBDocumentClient.from(new DynamoDBClient(stock(endpoint)))

  async function update(id: string, values: object, ReturnValues?: 'ALL_NEW') {
    const entries = Object.entries(values)
    const { Attributes } = await client.send(
      new UpdateCommand({
        ...{ TableName, Key: keyOf(id), ReturnValues },
        UpdateExpression: `SET ${entries.map(([name]) => `#${name} = :${name}`).join(', ')}`,
        ExpressionAttributeNames: Object.fromEntries(entries.map(([name]) => [`#${name}`, name])),
        ExpressionAttributeValues: Object.fromEntries(entries.map(([name, value]) => [`:${name}`, value])),
      }),
    )
    return Attributes
  }

  return {
    async create(): Promise<void> {
      const keys = [
        { AttributeName: 'pk', KeyType: 'HASH' as const },
        { AttributeName: 'sk', KeyType: 'RANGE' as const },
      ]
      const AttributeDefinitions = keys.map(({ AttributeName }) => ({
        AttributeName,
        AttributeType: 'S' as const,
      }))
      const table = { TableName, BillingMode: 'PAY_PER_REQUEST' as const, KeySchema: keys }
      await client.send(new CreateTableCommand({ ...table, AttributeDefinitions }))
      await client.send(new PutCommand({ TableName, Item: { ...AGENT, title: 'No-op' } }))
    },

    async get(Key: typeof AGENT) {
      return (await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }))).Item
    },

    async put(input: unknown): Promise<string> {
      const id = system.newId()
      const createdAt = new Date().toISOString()
      const Item = { ...keyOf(id), id, status: 'IN_PROGRESS', createdAt, input }
      await client.send(new PutCommand({ TableName, Item }))
      return id
    },

    /** @returns the run's input */
    async claim(id: string): Promise<unknown> {
      const lease = { leaseOwner: system.newId(), leaseExpiresAt: Date.now() + LEASE_MS, attempts: 1 }
      return (await update(id, lease, 'ALL_NEW'))?.input
    },

    finish: (id: string, output: unknown) =>
      update(id, { status: 'SUCCESS', output, finishedAt: new Date().toISOString(), steps: 0 }),
  }
}
