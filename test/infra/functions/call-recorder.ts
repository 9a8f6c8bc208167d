import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RATE_PREFIX, TOKEN_PREFIX } from '../../../lib/dynamodb/table/keys.ts'

export type Calls = {
  table: string[]
  /** Prefixes of the keys of tokens and their counters that were updated. */
  updated: string[]
  indexes: string[]
  queue: string[]
  /** Prefixes of the partition keys of all items that were written, in whatever way. */
  written: string[]
}

/**
 * A proxy between the AWS SDK and the emulators that records the calls of each client. The path of its endpoint
 * identifies the client.
 */
export async function startCallRecorder({ dynamodb, sqs }: { dynamodb: string; sqs: string }) {
  const callsByName = new Map<string, Record<keyof Calls, Set<string>>>()
  const getCalls = (name: string) => {
    const calls = callsByName.get(name) ?? {
      table: new Set(),
      updated: new Set(),
      indexes: new Set(),
      queue: new Set(),
      written: new Set(),
    }
    callsByName.set(name, calls)
    return calls
  }

  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const [service = '', action = ''] = String(request.headers['x-amz-target']).split('.')
    const calls = getCalls(request.url?.split('/')[1] ?? '')
    const isQueue = service === 'AmazonSQS'
    const parameters = JSON.parse(body.toString())
    const { IndexName, Key } = parameters
    for (const key of writtenKeys(action, parameters)) calls.written.add(key.replace(/#.*/s, '#'))
    const prefix = [TOKEN_PREFIX, RATE_PREFIX].find((text) => Key?.pk?.S.startsWith(text))
    if (isQueue) calls.queue.add(action)
    else if (action === 'Query' && IndexName) calls.indexes.add(IndexName)
    else if (action === 'UpdateItem' && prefix) calls.updated.add(prefix)
    else calls.table.add(action)

    const { host, 'content-length': length, connection, ...headers } = request.headers
    const forwarded = await fetch(isQueue ? sqs : dynamodb, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: new Uint8Array(body),
    })
    response.writeHead(forwarded.status, { 'content-type': 'application/x-amz-json-1.0' })
    response.end(Buffer.from(await forwarded.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    endpointOf: (name: string) => `http://127.0.0.1:${port}/${name}`,
    callsOf: (name: string): Calls => {
      const { table, updated, indexes, queue, written } = getCalls(name)
      return {
        table: [...table].sort(),
        updated: [...updated],
        indexes: [...indexes].sort(),
        queue: [...queue].sort(),
        written: [...written].sort(),
      }
    },
    stop: () => stop(server),
  }
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}

type Parameters = ReturnType<typeof JSON.parse>

/** The partition keys of the items that a request to DynamoDB writes. */
function writtenKeys(action: string, { Item, Key, RequestItems = {} }: Parameters): string[] {
  if (action === 'PutItem') return [Item.pk.S]
  if (action === 'UpdateItem' || action === 'DeleteItem') return [Key.pk.S]
  if (action !== 'BatchWriteItem') return []
  const requests = Object.values<Parameters[]>(RequestItems).flat()
  return requests.map(({ PutRequest, DeleteRequest }) => (PutRequest?.Item ?? DeleteRequest.Key).pk.S)
}
