import { once } from 'node:events'
import { statSync } from 'node:fs'
import { request } from 'node:http'
import { dirname } from 'node:path'
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  CreateTableCommand,
  DeleteItemCommand,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { clientConfig, createRequestHandler, isRetryable, socketPathOf } from '../../../lib/aws-sdk.ts'
import { serveDynamoDB } from '../../../local/emulators/private-socket.ts'
import {
  type Emulator,
  findDynoxide,
  startEmbeddedDynalite,
  startEmbeddedDynamoDB,
  startEmbeddedSqs,
} from '../../../local/emulators/start-emulators.ts'
import { startDynamoDB } from '../../support/service/port-emulators.ts'

const TableName = 'embedded'
const KEY_SCHEMA = [
  { AttributeName: 'pk', KeyType: 'HASH' as const },
  { AttributeName: 'sk', KeyType: 'RANGE' as const },
]
const STRINGS = ['pk', 'sk', 'Key'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' as const }))
const indexOf = (name: string) => ({
  IndexName: name,
  KeySchema: [{ AttributeName: 'Key', KeyType: 'HASH' as const }],
  Projection: { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: ['TableName'] },
})
const key = (sk: string) => ({ pk: { S: 'a' }, sk: { S: sk } })
/** Names and values that a translation could confuse with members of a request. */
const ITEM = {
  ...key('1'),
  Key: { S: 'index' },
  TableName: { M: { Item: { S: '"quotes" \u2028 \u2029 \n é 🦊' }, FooBar: { L: [{ NULL: true }] } } },
  number: { N: '12345678901234567890.123' },
  bytes: { B: new Uint8Array([0, 255, 10]) },
}
const large = (sk: string) => ({ PutRequest: { Item: { ...key(sk), text: { S: 'x'.repeat(380_000) } } } })

const COMMANDS: Record<string, object> = {
  CreateTable: new CreateTableCommand({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: STRINGS,
    KeySchema: KEY_SCHEMA,
    GlobalSecondaryIndexes: [indexOf('by-key')],
  }),
  UpdateTable: new UpdateTableCommand({
    TableName,
    AttributeDefinitions: STRINGS,
    GlobalSecondaryIndexUpdates: [{ Create: indexOf('also-by-key') }],
  }),
  DescribeTable: new DescribeTableCommand({ TableName }),
  ListTables: new ListTablesCommand({}),
  PutItem: new PutItemCommand({ TableName, Item: ITEM }),
  GetItem: new GetItemCommand({ TableName, Key: key('1'), ConsistentRead: true }),
  'a condition that fails': new PutItemCommand({
    TableName,
    Item: ITEM,
    ConditionExpression: 'attribute_not_exists(pk)',
  }),
  'an invalid item': new PutItemCommand({ TableName, Item: { pk: { S: 'a' } } }),
  UpdateItem: new UpdateItemCommand({
    TableName,
    Key: key('1'),
    UpdateExpression: 'SET #Key.#Item = :Value ADD counter :one REMOVE bytes',
    ExpressionAttributeNames: { '#Key': 'TableName', '#Item': 'Item' },
    ExpressionAttributeValues: { ':Value': { S: 'new' }, ':one': { N: '1' } },
    ReturnValues: 'ALL_NEW',
  }),
  BatchWriteItem: new BatchWriteItemCommand({
    RequestItems: {
      [TableName]: [...['2', '3', '4', '5'].map(large), { DeleteRequest: { Key: key('9') } }],
    },
  }),
  BatchGetItem: new BatchGetItemCommand({
    RequestItems: {
      [TableName]: {
        Keys: [key('1'), key('none')],
        ConsistentRead: true,
        ProjectionExpression: '#Key',
        ExpressionAttributeNames: { '#Key': 'TableName' },
      },
    },
  }),
  'Query of more than 1 MB': new QueryCommand({
    TableName,
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': { S: 'a' }, ':from': { S: '1' }, ':to': { S: '9' } },
    ConsistentRead: true,
  }),
  'Query of an index': new QueryCommand({
    TableName,
    IndexName: 'by-key',
    Select: 'COUNT',
    KeyConditionExpression: '#Key = :key',
    ExpressionAttributeNames: { '#Key': 'Key' },
    ExpressionAttributeValues: { ':key': { S: 'index' } },
  }),
  Scan: new ScanCommand({ TableName, Select: 'COUNT' }),
  DeleteItem: new DeleteItemCommand({ TableName, Key: key('1'), ReturnValues: 'ALL_OLD' }),
}

/** What a command returns, or the error that it throws, without times and ids. */
async function outcomeOf(command: object, client: DynamoDBClient): Promise<unknown> {
  const outcome = await client
    .send(command as never)
    .catch((error: Error) => ({ name: error.name, message: error.message }))
  return JSON.parse(
    JSON.stringify(outcome, (name, value) =>
      /^(\$metadata|CreationDateTime|TableId|IndexStatus)$/.test(name) ? undefined : value,
    ),
  )
}

// The embedded database is dynalite elsewhere.
describe.runIf(findDynoxide())('startEmbeddedDynamoDB', () => {
  let open: Emulator
  let embedded: Emulator
  let clients: Record<'port' | 'process' | 'socket', DynamoDBClient>
  beforeAll(async () => {
    open = await startDynamoDB(null)
    embedded = await startEmbeddedDynamoDB(null)
    clients = {
      port: new DynamoDBClient(clientConfig(open.endpoint)),
      process: new DynamoDBClient(clientConfig(embedded.endpoint)),
      // As in another process.
      socket: new DynamoDBClient({
        ...clientConfig(embedded.endpoint),
        requestHandler: createRequestHandler(10_000, { endpoint: embedded.endpoint }),
      }),
    }
  })
  afterAll(() => Promise.all([open.stop(), embedded.stop()]))

  it.each(Object.entries(COMMANDS))('answers as dynoxide does on a port: %s', async (name, command) => {
    expect(await outcomeOf(command, clients.process)).toEqual(await outcomeOf(command, clients.port))
    if (/^(Get|List|Query|Scan|Describe|a |an )/.test(name))
      expect(await outcomeOf(command, clients.socket)).toEqual(await outcomeOf(command, clients.port))
  })

  it.each(['\ud800', 'a\udc00b', '\\\ud800'])('refuses text with an unpaired surrogate: %j', async (text) => {
    const put = new PutItemCommand({ TableName, Item: { ...key('surrogate'), text: { S: text } } })
    for (const client of Object.values(clients))
      await expect(client.send(put)).rejects.toThrow(
        expect.objectContaining({ name: 'SerializationException' }),
      )
  })

  it.each(['🦊', '\\ud800', '\\\\ud800'])('accepts text that looks like one: %j', async (text) => {
    const put = new PutItemCommand({ TableName, Item: { ...key('surrogate'), text: { S: text } } })
    await clients.process.send(put)
    const { Item } = await clients.socket.send(new GetItemCommand({ TableName, Key: key('surrogate') }))
    expect(Item?.text).toEqual({ S: text })
  })
})

describe.runIf(findDynoxide())('an embedded database that does not respond', () => {
  it('is a retryable error', async () => {
    const { endpoint, close } = await serveDynamoDB(() => new Promise(() => undefined))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const sent = new DynamoDBClient({ ...clientConfig(endpoint), maxAttempts: 1 }).send(
      new ListTablesCommand({}),
    )
    const failed = sent.catch((error: unknown) => error)
    await vi.waitUntil(() => vi.getTimerCount() > 0)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(isRetryable(await failed)).toBe(true)
    vi.useRealTimers()
    await close()
  })
})

describe('private emulators', () => {
  it.each([
    ['the embedded database', () => startEmbeddedDynamoDB(null)],
    ['dynalite', () => startEmbeddedDynalite(null)],
    ['fauxqs', () => startEmbeddedSqs()],
  ])(
    '%s listens on a socket in a folder that only its owner can open, which its end removes',
    async (_, start) => {
      const emulator = await start()
      const path = socketPathOf(emulator.endpoint) ?? ''
      expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
      const headers = { 'x-amz-target': 'DynamoDB_20120810.ListTables' }
      const sent = request({ socketPath: path, path: '/', headers, method: 'POST' }).end('{}')
      await once(sent, 'response')
      await emulator.stop()
      expect(() => statSync(dirname(path))).toThrow('ENOENT')
    },
  )
})
