import { AwsFault, isPassing } from '../aws/aws-fault.ts'
import { type Identity, identityOf } from '../aws/identity.ts'
import { Unavailable } from '../core/errors.ts'
import { DYNAMODB_ENDPOINT, type Environment, requireEnv, TABLE_NAME } from '../environment.ts'
import { type AttributeMap, fromAttributes, toAttributes } from './attribute-values.ts'
import { dynamodbClient } from './client.ts'
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

export function openTable(
  environment: Environment = process.env,
  identity: Identity = identityOf(environment, DYNAMODB_ENDPOINT),
) {
  const name = requireEnv(TABLE_NAME, environment)
  const { endOf, attributesOf } = retention(environment)
  const client = dynamodbClient(identity)
  /** @throws Unavailable, or an AwsFault that is no passing one */
  const call = async <Answer>(operation: string, input: object): Promise<Answer> => {
    try {
      return await client.call<Answer>(operation, input)
    } catch (error) {
      throw error instanceof AwsFault && isPassing(error) ? new Unavailable(error) : error
    }
  }

  return {
    name,

    /** Milliseconds since 1970 until which an execution and its items are kept at least; null without a limit. */
    keptUntil: endOf,

    /** Of the item, only `attributes` when they are given; it is read and paid for whole. */
    async get(key: Key, options: { consistent: boolean; attributes?: string[] }): Promise<Item | null> {
      const { consistent, attributes } = options
      const { Item } = await call<{ Item?: AttributeMap }>('GetItem', {
        TableName: name,
        Key: toAttributes(key),
        ConsistentRead: consistent,
        ...(attributes && projection(attributes)),
      })
      return Item ? fromAttributes(Item) : null
    },

    /** Whether the item was written: false when the condition failed. */
    async put(item: Item, condition?: Condition): Promise<boolean> {
      const answer = await conditional(() =>
        call('PutItem', {
          TableName: name,
          Item: toAttributes({ ...item, ...attributesOf(item) }),
          ...conditionOf(condition),
        }),
      )
      return answer !== null
    },

    /** The item as it is now, or null when the condition failed. */
    async update(key: Key, change: Change): Promise<Item | null> {
      const answer = await conditional(() =>
        call<{ Attributes?: AttributeMap }>('UpdateItem', {
          TableName: name,
          Key: toAttributes(key),
          ReturnValues: 'ALL_NEW',
          ...onTheWire(expressions(change)),
        }),
      )
      return answer && fromAttributes(answer.Attributes ?? {})
    },

    /** Nothing happens when the condition fails. */
    async delete(key: Key, condition?: Condition): Promise<void> {
      await conditional(() =>
        call('DeleteItem', { TableName: name, Key: toAttributes(key), ...conditionOf(condition) }),
      )
    },

    async query({ ExclusiveStartKey, ...input }: Query): Promise<{ items: Item[]; lastKey: Item | null }> {
      const { Items = [], LastEvaluatedKey } = await call<Page>('Query', {
        TableName: name,
        ...onTheWire(input),
        ...(ExclusiveStartKey && { ExclusiveStartKey: toAttributes(ExclusiveStartKey) }),
      })
      return {
        items: Items.map(fromAttributes),
        lastKey: LastEvaluatedKey ? fromAttributes(LastEvaluatedKey) : null,
      }
    },

    /** How many items of an index have this partition key. Eventually consistent. */
    async count(index: IndexName, partition: string): Promise<number> {
      let counted = 0
      let lastKey: AttributeMap | undefined
      do {
        const { Count = 0, LastEvaluatedKey } = await call<Page>('Query', {
          TableName: name,
          IndexName: index,
          Select: 'COUNT',
          KeyConditionExpression: '#partition = :partition',
          ExpressionAttributeNames: { '#partition': INDEXES[index].partitionKey.name },
          ExpressionAttributeValues: toAttributes({ ':partition': partition }),
          ExclusiveStartKey: lastKey,
        })
        counted += Count
        lastKey = LastEvaluatedKey
      } while (lastKey)
      return counted
    },

    /** The items of these keys that exist, in the order of the keys; any number, read 100 at a time. */
    async getMany(keys: Key[], options: { consistent: boolean }): Promise<Item[]> {
      const found = new Map<string, Item>()
      await Promise.all(
        slices(keys.map(toAttributes), BATCH_GET_KEYS).map((slice) =>
          untilDone(slice, async (Keys) => {
            const { Responses, UnprocessedKeys } = await call<BatchGetAnswer>('BatchGetItem', {
              RequestItems: { [name]: { Keys, ConsistentRead: options.consistent } },
            })
            for (const item of Responses?.[name]?.map(fromAttributes) ?? [])
              found.set(mapKey(item as Key), item)
            return UnprocessedKeys?.[name]?.Keys ?? []
          }),
        ),
      )
      return keys.map((key) => found.get(mapKey(key))).filter((item) => item !== undefined)
    },

    /** Puts or deletes any number of items, 25 at a time, with no order and no condition. */
    async writeMany(writes: ({ put: Item } | { delete: Key })[]): Promise<void> {
      const requests = writes.map((write): WriteRequest => {
        if ('delete' in write) return { DeleteRequest: { Key: toAttributes(write.delete) } }
        return { PutRequest: { Item: toAttributes({ ...write.put, ...attributesOf(write.put) }) } }
      })
      await Promise.all(
        slices(requests, BATCH_WRITE_ITEMS).map((slice) =>
          untilDone(slice, async (todo) => {
            const { UnprocessedItems } = await call<BatchWriteAnswer>('BatchWriteItem', {
              RequestItems: { [name]: todo },
            })
            return UnprocessedItems?.[name] ?? []
          }),
        ),
      )
    },

    /** @throws Unavailable when the table does not answer. */
    async ping(): Promise<void> {
      await call('GetItem', { TableName: name, Key: toAttributes({ pk: 'PING', sk: 'PING' }) })
    },

    close: client.close,
  }
}

/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html, with values as they are in items. */
export type Query = {
  IndexName?: IndexName
  KeyConditionExpression: string
  FilterExpression?: string | undefined
  ProjectionExpression?: string
  ExpressionAttributeNames?: Record<string, string> | undefined
  ExpressionAttributeValues: Item
  ExclusiveStartKey?: Item
  ScanIndexForward?: boolean
  ConsistentRead?: boolean
  Limit?: number
}

type Page = { Items?: AttributeMap[]; Count?: number; LastEvaluatedKey?: AttributeMap }
type WriteRequest = { PutRequest: { Item: AttributeMap } } | { DeleteRequest: { Key: AttributeMap } }
type BatchGetAnswer = {
  Responses?: Record<string, AttributeMap[]>
  UnprocessedKeys?: Record<string, { Keys: AttributeMap[] }>
}
type BatchWriteAnswer = { UnprocessedItems?: Record<string, WriteRequest[]> }

/** A request's expressions, with the values as the protocol has them. */
const onTheWire = <T extends { ExpressionAttributeValues?: Item | undefined }>(input: T) => ({
  ...input,
  ExpressionAttributeValues: input.ExpressionAttributeValues && toAttributes(input.ExpressionAttributeValues),
})

const conditionOf = (condition: Condition | undefined) =>
  condition ? onTheWire(expressions({ condition })) : {}

async function conditional<T>(call: () => Promise<T>): Promise<T | null> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof AwsFault && error.name === 'ConditionalCheckFailedException') return null
    throw error
  }
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
