import { isDeepStrictEqual } from 'node:util'
import { type AttributeValue, DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb'
import { sdkConfig } from '../support/sdk.ts'
import type { Exchange } from './fault-proxy.ts'

type WireItem = Record<string, AttributeValue>

const isCheckpoint = (sk: string | undefined) => sk?.startsWith('STEP#') ?? false
const nameOf = (item: WireItem) => `${item.pk?.S} ${item.sk?.S}`

/**
 * Reads along as the table is written: a checkpoint may be written once and never again, and an execution may become
 * final once. It sees what was carried out, whether or not its answer arrived.
 */
export function watchTable() {
  const checkpoints = new Map<string, WireItem>()
  const ends = new Map<string, string>()
  const problems: string[] = []

  const written = (item: WireItem) => {
    const name = nameOf(item)
    if (checkpoints.has(name)) problems.push(`The checkpoint ${name} was written twice.`)
    else checkpoints.set(name, item)
  }
  const touched = (key: WireItem, how: string) => problems.push(`The checkpoint ${nameOf(key)} was ${how}.`)

  const seen: Record<string, (request: Wire, response: Wire) => void> = {
    PutItem: ({ Item }) => {
      if (Item && isCheckpoint(Item.sk?.S)) written(Item)
    },
    DeleteItem: ({ Key }) => {
      if (Key && isCheckpoint(Key.sk?.S)) touched(Key, 'deleted')
    },
    BatchWriteItem: ({ RequestItems = {} }) => {
      for (const { PutRequest, DeleteRequest } of Object.values(RequestItems).flat()) {
        if (PutRequest && isCheckpoint(PutRequest.Item.sk?.S)) written(PutRequest.Item)
        if (DeleteRequest && isCheckpoint(DeleteRequest.Key.sk?.S)) touched(DeleteRequest.Key, 'deleted')
      }
    },
    TransactWriteItems: ({ TransactItems = [] }) => {
      for (const { Put, Update, Delete } of TransactItems) {
        if (Put && isCheckpoint(Put.Item.sk?.S)) written(Put.Item)
        for (const change of [Update, Delete])
          if (change && isCheckpoint(change.Key.sk?.S)) touched(change.Key, 'changed')
      }
    },
    UpdateItem: ({ Key }, { Attributes }) => {
      if (!Key) return
      if (isCheckpoint(Key.sk?.S)) touched(Key, 'updated')
      const status = Attributes?.status?.S
      if (Key.sk?.S !== 'RECORD' || !status || status === 'IN_PROGRESS') return
      const end = JSON.stringify([status, Attributes?.output, Attributes?.error, Attributes?.finishedAt])
      const before = ends.get(nameOf(Key))
      if (before && before !== end) problems.push(`${nameOf(Key)} ended twice: ${before}, then ${end}.`)
      ends.set(nameOf(Key), before ?? end)
    },
  }

  return {
    checkpoints,
    ends,
    problems,
    onExchange: ({ operation, status, request, response }: Exchange) => {
      if (status === 200) seen[operation]?.(parsed(request), parsed(response))
    },
    /** Reads the whole table, past the proxy: are all checkpoints there, as they were written? */
    async compareWith(endpoint: string, TableName: string): Promise<void> {
      const client = new DynamoDBClient(sdkConfig(endpoint))
      const stored = new Map<string, WireItem>()
      for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true })) {
        for (const item of Items) if (isCheckpoint(item.sk?.S)) stored.set(nameOf(item), item)
      }
      client.destroy()
      for (const [name, item] of checkpoints) {
        if (!isDeepStrictEqual(stored.get(name), item)) problems.push(`The checkpoint ${name} has changed.`)
      }
      for (const name of stored.keys()) {
        if (!checkpoints.has(name)) problems.push(`The checkpoint ${name} was written past the proxy.`)
      }
    },
  }
}

export type TableWatch = ReturnType<typeof watchTable>

/** What is read of requests and answers. */
type Wire = {
  Item?: WireItem
  Key?: WireItem
  Attributes?: WireItem
  RequestItems?: Record<string, { PutRequest?: { Item: WireItem }; DeleteRequest?: { Key: WireItem } }[]>
  TransactItems?: { Put?: { Item: WireItem }; Update?: { Key: WireItem }; Delete?: { Key: WireItem } }[]
}

const parsed = (body: Buffer) => JSON.parse(body.toString() || '{}') as Wire
