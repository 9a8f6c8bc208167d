import { ConditionalCheckFailedException, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  BatchWriteCommand,
  type BatchWriteCommandOutput,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandOutput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import pRetry from 'p-retry'
import { clientConfig, orUnavailable } from '../../aws-sdk.ts'
import { Unavailable, WriteRejected } from '../../core/errors.ts'
import {
  DYNAMODB_ENDPOINT,
  type Environment,
  readSetting,
  requireEnv,
  TABLE_NAME,
} from '../../environment.ts'
import { type Change, type Condition, expressions, type Item } from './expressions.ts'
import type { Key } from './keys.ts'
import { retention } from './retention.ts'
import { INDEXES, type IndexName, TABLE } from './schema.ts'

export { type Change, type Condition, type Item, NOT_EXISTS, pick } from './expressions.ts'

const BATCH_GET_KEYS = 100
const BATCH_WRITE_ITEMS = 25

/**
 * The table behind the stores. A failed condition is a result, not an error. Every method throws `Unavailable` when
 * DynamoDB throttles or does not answer, or while the service is paused, and the SDK's own error otherwise.
 */
export type Table = ReturnType<typeof openTable>

export function openTable(environment: Environment = process.env) {
  const name = requireEnv(TABLE_NAME, environment)
  const { expiryOf, timeToLiveOf } = retention(environment)
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient(clientConfig(environment[DYNAMODB_ENDPOINT])),
    { marshallOptions: { removeUndefinedValues: true } },
  )
  // It prepares what it would log for each request, and the client has no logger.
  client.middlewareStack.remove('loggerMiddleware')
  const isPaused = readSetting('paused', environment) === 'on'
  const send = (async (command: never) => {
    if (isPaused) throw new Unavailable(new Error('The service is paused.'))
    return orUnavailable(client.send(command))
  }) as DynamoDBDocumentClient['send']

  return {
    name,

    /** When a copy of an execution's result expires, in milliseconds since the epoch; null if it does not. */
    expiryOf,

    /** Of the item, only `attributes` when they are given; DynamoDB reads and bills the whole item. */
    async get(key: Key, { consistent, attributes }: ReadOptions): Promise<Item | null> {
      const read = { Key: key, ConsistentRead: consistent, ...(attributes && projection(attributes)) }
      const { Item } = await send(new GetCommand({ TableName: name, ...read }))
      return Item ?? null
    },

    /** False when the condition failed. `sendBefore`: see `Change`. */
    async put(item: Item, condition?: Condition, sendBefore?: number): Promise<boolean> {
      const stored = { ...item, ...timeToLiveOf(item) }
      const command = new PutCommand({ TableName: name, Item: stored, ...expressions({ condition }) })
      return (await ifConditionHolds(send(sentBefore(sendBefore, command)))) !== null
    },

    /** The updated item, or null when the condition failed. */
    async update(key: Key, change: Change): Promise<Item | null> {
      const set = { ...change.set, ...timeToLiveOf({ ...change.set, ...key }) }
      const update = expressions({ ...change, set })
      const command = new UpdateCommand({ TableName: name, Key: key, ReturnValues: 'ALL_NEW', ...update })
      const output = await ifConditionHolds(send(sentBefore(change.sendBefore, command)))
      return output && (output.Attributes ?? {})
    },

    /** Does nothing when the condition fails. */
    async delete(key: Key, condition?: Condition): Promise<void> {
      const command = new DeleteCommand({ TableName: name, Key: key, ...expressions({ condition }) })
      await ifConditionHolds(send(command))
    },

    async query(query: Query): Promise<{ items: Item[]; lastKey: Item | null }> {
      const command = new QueryCommand({ TableName: name, ...query })
      const { Items = [], LastEvaluatedKey } = await send(command)
      return { items: Items, lastKey: LastEvaluatedKey ?? null }
    },

    /**
     * The number of items of an index with this partition key, and sort keys with this prefix. Eventually consistent.
     */
    async count(index: IndexName, partition: string, prefix = ''): Promise<number> {
      const { partitionKey, sortKey } = INDEXES[index]
      const inRange = prefix && ' AND begins_with(#sort, :prefix)'
      let count = 0
      let lastKey: Item | undefined
      do {
        const { Count = 0, LastEvaluatedKey }: QueryCommandOutput = await send(
          new QueryCommand({
            TableName: name,
            IndexName: index,
            Select: 'COUNT',
            KeyConditionExpression: `#partition = :partition${inRange}`,
            ExpressionAttributeNames: {
              '#partition': partitionKey.name,
              ...(prefix && { '#sort': sortKey.name }),
            },
            ExpressionAttributeValues: { ':partition': partition, ...(prefix && { ':prefix': prefix }) },
            ExclusiveStartKey: lastKey,
          }),
        )
        count += Count
        lastKey = LastEvaluatedKey
      } while (lastKey)
      return count
    },

    /** The items that exist, in the order of these keys, with all or only these attributes. Reads 100 at a time. */
    async getMany(keys: Key[], { consistent, attributes }: ReadOptions): Promise<Item[]> {
      const projected = attributes && projection(['pk', 'sk', ...attributes])
      const found = new Map<string, Item>()
      await sendInBatches<Item>(keys, BATCH_GET_KEYS, async (Keys) => {
        const RequestItems = { [name]: { Keys, ConsistentRead: consistent, ...projected } }
        const { Responses, UnprocessedKeys } = await send(new BatchGetCommand({ RequestItems }))
        for (const item of Responses?.[name] ?? []) found.set(mapKey(item as Key), item)
        return UnprocessedKeys?.[name]?.Keys ?? []
      })
      return keys.map((key) => found.get(mapKey(key))).filter((item) => item !== undefined)
    },

    /** Puts or deletes any number of items, 25 at a time, in no order and without conditions. */
    async writeMany(writes: ({ put: Item } | { delete: Key })[]): Promise<void> {
      const requests = writes.map(
        (write): WriteRequest =>
          'delete' in write
            ? { DeleteRequest: { Key: write.delete } }
            : { PutRequest: { Item: { ...write.put, ...timeToLiveOf(write.put) } } },
      )
      await sendInBatches(requests, BATCH_WRITE_ITEMS, async (batch) => {
        const { UnprocessedItems } = await send(new BatchWriteCommand({ RequestItems: { [name]: batch } }))
        return UnprocessedItems?.[name] ?? []
      })
    },

    /** Reads an item that does not exist. @throws Unavailable when the table does not answer */
    async ping(): Promise<void> {
      await send(new GetCommand({ TableName: name, Key: { pk: 'PING', sk: 'PING' } }))
    },
  }
}

/** Checked before each attempt is signed: AWS rejects a request that arrives more than 5 minutes later. */
function sentBefore<C extends PutCommand | UpdateCommand>(time: number | undefined, command: C): C {
  if (time === undefined) return command
  const check = (next: (args: unknown) => Promise<unknown>) => async (args: unknown) => {
    if (Date.now() < time) return next(args)
    throw new Unavailable(new Error('The write could not be sent in time.'))
  }
  const position = { relation: 'after', toMiddleware: 'retryMiddleware' } as const
  command.middlewareStack.addRelativeTo(check as never, { name: 'sentBefore', ...position, override: true })
  return command
}

/** Without `attributes`, all of them are read. */
type ReadOptions = { consistent: boolean; attributes?: string[] | undefined }

/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html */
export type Query = {
  IndexName?: IndexName
  KeyConditionExpression: string
  FilterExpression?: string | undefined
  ProjectionExpression?: string
  ExpressionAttributeNames?: Record<string, string> | undefined
  ExpressionAttributeValues: Item | undefined
  ExclusiveStartKey?: Item | undefined
  ScanIndexForward?: boolean
  ConsistentRead?: boolean
  Limit?: number
}

/** The next page of each query, read at the same time: empty once a query has ended, until all have. */
export async function* queryTogether(
  table: Pick<Table, 'query'>,
  queries: Query[],
): AsyncGenerator<Item[][]> {
  const lists = queries.map((query) => queryPages(table, query))
  for (;;) {
    const pages = await Promise.all(lists.map((list) => list.next()))
    if (pages.every(({ done }) => done)) return
    yield pages.map(({ value }) => (value ?? []) as Item[])
  }
}

/**
 * Up to where the shards of a log have been read that ends before `before`. A shard may have more entries of the same
 * time as its last one.
 */
export const passedBy = (pages: { at: number }[][], before: number): number =>
  Math.min(...pages.map((entries) => entries.at(-1)?.at ?? before))

/** The items of all pages of a query, page by page. */
export async function* queryPages(table: Pick<Table, 'query'>, query: Query): AsyncGenerator<Item[]> {
  let ExclusiveStartKey: Item | undefined
  do {
    const page: { items: Item[]; lastKey: Item | null } = await table.query({ ...query, ExclusiveStartKey })
    yield page.items
    ExclusiveStartKey = page.lastKey ?? undefined
  } while (ExclusiveStartKey)
}

type WriteRequest = NonNullable<NonNullable<BatchWriteCommandOutput['UnprocessedItems']>[string]>[number]

/** Null when the condition of the write failed. @throws WriteRejected */
async function ifConditionHolds<T>(response: Promise<T>): Promise<T | null> {
  try {
    return await response
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return null
    if (error instanceof Error && error.name === 'ValidationException') throw new WriteRejected(error)
    throw error
  }
}

const projection = (attributes: string[]) => ({
  ProjectionExpression: attributes.map((name) => `#${name}`).join(', '),
  ExpressionAttributeNames: Object.fromEntries(attributes.map((name) => [`#${name}`, name])),
})

const mapKey = (key: Key) => `${key[TABLE.partitionKey]}\n${key[TABLE.sortKey]}`

/** Takes 4 s at most, the requests themselves excluded. */
const RETRIES = { retries: 6, minTimeout: 50, maxTimeout: 1_000, randomize: true }

/**
 * Sends any number of entries in batches of up to `size`, all at once. `send` returns what DynamoDB left unprocessed,
 * which is sent again with exponential backoff.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html#Programming.Errors.BatchOperations
 * @throws Unavailable when entries are still unprocessed after the last retry
 */
async function sendInBatches<T>(
  entries: T[],
  size: number,
  send: (batch: T[]) => Promise<T[]>,
): Promise<void> {
  const count = Math.ceil(entries.length / size)
  const batches = Array.from({ length: count }, (_, i) => entries.slice(i * size, (i + 1) * size))
  await Promise.all(batches.map((batch) => sendBatch(batch, send)))
}

async function sendBatch<T>(batch: T[], send: (batch: T[]) => Promise<T[]>): Promise<void> {
  let rest = batch
  const attempt = async () => {
    rest = await send(rest)
    if (rest.length > 0) throw new UnprocessedEntries(`${rest.length} entries are unprocessed.`)
  }
  try {
    await pRetry(attempt, { ...RETRIES, shouldRetry: ({ error }) => error instanceof UnprocessedEntries })
  } catch (error) {
    throw error instanceof UnprocessedEntries ? new Unavailable(error) : error
  }
}

class UnprocessedEntries extends Error {}
