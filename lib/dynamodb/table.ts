import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  DynamoDBServiceException,
} from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { Unavailable } from '../core/errors.ts'
import { DYNAMODB_ENDPOINT, type Environment, requireEnv, TABLE_NAME } from '../environment.ts'
import { type Change, type Condition, expressions, type Item } from './expressions.ts'
import type { Key } from './keys.ts'
import { retention } from './retention.ts'
import { INDEXES, type IndexName, TABLE } from './schema.ts'

export type { Change, Condition, Item } from './expressions.ts'

const BATCH_GET_KEYS = 100
const BATCH_WRITE_ITEMS = 25
const MAX_BATCH_ROUNDS = 8

/**
 * The table behind the stores. Failed conditions are answers, not exceptions; a database that throttles or does not
 * answer is `Unavailable`; everything else is a fault of ours and thrown as it is.
 */
export type Table = ReturnType<typeof openTable>

export function openTable(environment: Environment = process.env) {
  const name = requireEnv(TABLE_NAME, environment)
  const { endOf, attributesOf } = retention(environment)
  const client = DynamoDBDocumentClient.from(
    new DynamoDBClient(clientConfig(environment[DYNAMODB_ENDPOINT])),
    {
      marshallOptions: { removeUndefinedValues: true },
    },
  )

  return {
    name,

    /** Milliseconds since 1970 until which an execution and its items are kept at least; null without a limit. */
    keptUntil: endOf,

    /** Of the item, only `attributes` when they are given; it is read and paid for whole. */
    async get(key: Key, options: { consistent: boolean; attributes?: string[] }): Promise<Item | null> {
      const { consistent, attributes } = options
      const answer = await available(() =>
        client.send(
          new GetCommand({
            TableName: name,
            Key: key,
            ConsistentRead: consistent,
            ...(attributes && projection(attributes)),
          }),
        ),
      )
      return answer.Item ?? null
    },

    /** Whether the item was written: false when the condition failed. */
    async put(item: Item, condition?: Condition): Promise<boolean> {
      const answer = await conditional(() =>
        client.send(
          new PutCommand({
            TableName: name,
            Item: { ...item, ...attributesOf(item) },
            ...expressions(condition ? { condition } : {}),
          }),
        ),
      )
      return answer !== null
    },

    /** The item as it is now, or null when the condition failed. */
    async update(key: Key, change: Change): Promise<Item | null> {
      const answer = await conditional(() =>
        client.send(
          new UpdateCommand({ TableName: name, Key: key, ReturnValues: 'ALL_NEW', ...expressions(change) }),
        ),
      )
      return answer === null ? null : (answer.Attributes ?? {})
    },

    /** Nothing happens when the condition fails. */
    async delete(key: Key, condition?: Condition): Promise<void> {
      await conditional(() =>
        client.send(
          new DeleteCommand({ TableName: name, Key: key, ...expressions(condition ? { condition } : {}) }),
        ),
      )
    },

    async query(
      input: Omit<QueryCommandInput, 'TableName'>,
    ): Promise<{ items: Item[]; lastKey: Item | null }> {
      const answer = await available(() => client.send(new QueryCommand({ TableName: name, ...input })))
      return { items: answer.Items ?? [], lastKey: answer.LastEvaluatedKey ?? null }
    },

    /** How many items of an index have this partition key. Eventually consistent. */
    async count(index: IndexName, partition: string): Promise<number> {
      let counted = 0
      let lastKey: Item | undefined
      do {
        const answer = await available(() =>
          client.send(
            new QueryCommand({
              TableName: name,
              IndexName: index,
              Select: 'COUNT',
              KeyConditionExpression: '#partition = :partition',
              ExpressionAttributeNames: { '#partition': INDEXES[index].partitionKey.name },
              ExpressionAttributeValues: { ':partition': partition },
              ExclusiveStartKey: lastKey,
            }),
          ),
        )
        counted += answer.Count ?? 0
        lastKey = answer.LastEvaluatedKey
      } while (lastKey)
      return counted
    },

    /** The items of these keys that exist, in the order of the keys; any number, read 100 at a time. */
    async getMany(keys: Key[], options: { consistent: boolean }): Promise<Item[]> {
      const found = new Map<string, Item>()
      await Promise.all(
        slices(keys, BATCH_GET_KEYS).map(async (slice) => {
          await untilDone(slice, async (todo) => {
            const answer = await available(() =>
              client.send(
                new BatchGetCommand({
                  RequestItems: { [name]: { Keys: todo, ConsistentRead: options.consistent } },
                }),
              ),
            )
            for (const item of answer.Responses?.[name] ?? []) found.set(mapKey(item as Key), item)
            return (answer.UnprocessedKeys?.[name]?.Keys ?? []) as Key[]
          })
        }),
      )
      return keys.map((key) => found.get(mapKey(key))).filter((item) => item !== undefined)
    },

    /** Puts or deletes any number of items, 25 at a time, with no order and no condition. */
    async writeMany(writes: ({ put: Item } | { delete: Key })[]): Promise<void> {
      await Promise.all(
        slices(writes, BATCH_WRITE_ITEMS).map(async (slice) => {
          const requests = slice.map((write) =>
            'put' in write
              ? { PutRequest: { Item: { ...write.put, ...attributesOf(write.put) } } }
              : { DeleteRequest: { Key: write.delete } },
          )
          await untilDone(requests, async (todo) => {
            const answer = await available(() =>
              client.send(new BatchWriteCommand({ RequestItems: { [name]: todo } })),
            )
            return (answer.UnprocessedItems?.[name] ?? []) as typeof requests
          })
        }),
      )
    },

    /** @throws Unavailable when the table does not answer. */
    async ping(): Promise<void> {
      await available(() => client.send(new GetCommand({ TableName: name, Key: { pk: 'PING', sk: 'PING' } })))
    },

    close: () => client.destroy(),
  }
}

/**
 * No call may hang: one that gets no answer is sent again, and is `Unavailable` when that was in vain. Emulators take any
 * credentials and region, but the client insists on some.
 */
export function clientConfig(endpoint: string | undefined) {
  const requestHandler = { connectionTimeout: 2_000, requestTimeout: 8_000, throwOnRequestTimeout: true }
  const base = { maxAttempts: 5, requestHandler }
  if (!endpoint) return base
  return {
    ...base,
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  }
}

async function available<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    throw isPassing(error) ? new Unavailable(error) : error
  }
}

async function conditional<T>(call: () => Promise<T>): Promise<T | null> {
  try {
    return await available(call)
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return null
    throw error
  }
}

/** Throttling, server faults and sockets that break; a rejected request is none of these. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof DynamoDBServiceException) {
    return error.$fault === 'server' || /Throttl|ThroughputExceeded|RequestLimitExceeded/.test(error.name)
  }
  return 'code' in error || error.name === 'TimeoutError'
}

/** Repeats a batch with what it left unprocessed, backing off as AWS asks. */
async function untilDone<T>(batch: T[], attempt: (todo: T[]) => Promise<T[]>): Promise<void> {
  let todo = await attempt(batch)
  for (let round = 1; todo.length > 0; round++) {
    if (round > MAX_BATCH_ROUNDS)
      throw new Unavailable(new Error(`${todo.length} items were left unprocessed`))
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 25 * 2 ** round))
    todo = await attempt(todo)
  }
}

const projection = (attributes: string[]) => ({
  ProjectionExpression: attributes.map((name) => `#${name}`).join(', '),
  ExpressionAttributeNames: Object.fromEntries(attributes.map((name) => [`#${name}`, name])),
})

const mapKey = (key: Key) => `${key[TABLE.partitionKey]}\n${key[TABLE.sortKey]}`

function slices<T>(list: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))
}
