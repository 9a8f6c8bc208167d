import { isDeepStrictEqual } from 'node:util'
import type { Exchange } from '../../../support/proxy/observe.ts'
import { isCheckpoint, isRecord, parseWire, type Wire, type WireItem } from './table-request.ts'

const nameOf = (item: WireItem) => `${item.pk?.S} ${item.sk?.S}`

/**
 * Watches the writes to the table: a checkpoint may be written only once, and an execution may become final only once.
 * It sees every write that DynamoDB carried out, whether or not its response reached the service.
 */
export function monitorWrites() {
  const checkpoints = new Map<string, WireItem>()
  const finals = new Map<string, unknown[]>()
  /** Partition keys of deleted executions, whose checkpoints may be deleted, and written again by a late worker. */
  const deleted = new Set<string>()
  const problems: string[] = []

  const onPut = (item: WireItem) => {
    const name = nameOf(item)
    // The SDK repeats a write whose response was lost; after a deletion it succeeds again, until the last check.
    if (checkpoints.has(name) && !deleted.has(item.pk?.S ?? ''))
      problems.push(`The checkpoint ${name} was written twice.`)
    else checkpoints.set(name, item)
  }
  const onChange = (key: WireItem, change: string) =>
    problems.push(`The checkpoint ${nameOf(key)} was ${change}.`)
  const onDelete = (key: WireItem) => {
    if (!deleted.has(key.pk?.S ?? '')) onChange(key, 'deleted')
  }

  const handlers: Record<string, (request: Wire, response: Wire) => void> = {
    PutItem: ({ Item }) => {
      if (Item && isCheckpoint(Item.sk?.S)) onPut(Item)
      if (Item?.deleted?.BOOL) deleted.add(Item.pk?.S ?? '')
    },
    DeleteItem: ({ Key }) => {
      if (Key && isCheckpoint(Key.sk?.S)) onDelete(Key)
    },
    BatchWriteItem: ({ RequestItems = {} }) => {
      for (const { PutRequest, DeleteRequest } of Object.values(RequestItems).flat()) {
        if (PutRequest && isCheckpoint(PutRequest.Item.sk?.S)) onPut(PutRequest.Item)
        if (DeleteRequest && isCheckpoint(DeleteRequest.Key.sk?.S)) onDelete(DeleteRequest.Key)
      }
    },
    TransactWriteItems: ({ TransactItems = [] }) => {
      for (const { Put, Update, Delete } of TransactItems) {
        if (Put && isCheckpoint(Put.Item.sk?.S)) onPut(Put.Item)
        for (const change of [Update, Delete])
          if (change && isCheckpoint(change.Key.sk?.S)) onChange(change.Key, 'changed')
      }
    },
    UpdateItem: ({ Key }, { Attributes }) => {
      if (!Key) return
      if (isCheckpoint(Key.sk?.S)) onChange(Key, 'updated')
      const status = Attributes?.status?.S
      if (!isRecord(Key.sk?.S) || !status || status === 'IN_PROGRESS') return
      // Compared as values: the emulator returns the members of a map in any order.
      const final = [status, Attributes?.output, Attributes?.error, Attributes?.finishedAt]
      const previous = finals.get(nameOf(Key))
      if (previous && !isDeepStrictEqual(previous, final))
        problems.push(
          `${nameOf(Key)} became final twice: ${JSON.stringify(previous)}, then ${JSON.stringify(final)}.`,
        )
      finals.set(nameOf(Key), previous ?? final)
    },
  }

  return {
    checkpoints,
    problems,
    onExchange: ({ operation, status, request, response }: Exchange) => {
      if (status === 200) handlers[operation]?.(parseWire(request), parseWire(response))
    },
  }
}
