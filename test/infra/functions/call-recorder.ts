import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RATE_PREFIX, TOKEN_PREFIX } from '../../../lib/dynamodb/table/keys.ts'

export type Calls = {
  table: string[]
  /** Prefixes of the keys of tokens and their counters that were updated. */
  updated: string[]
  indexes: string[]
  queue: string[]
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
    }
    callsByName.set(name, calls)
    return calls
  }

  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const [service = '', action = ''] = String(request.headers['x-amz-target']).split('.')
    const calls = getCalls(request.url?.split('/')[1] ?? '')
    const isQueue = service === 'AmazonSQS'
    const { IndexName, Key } = JSON.parse(body.toString())
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
      const { table, updated, indexes, queue } = getCalls(name)
      return {
        table: [...table].sort(),
        updated: [...updated],
        indexes: [...indexes].sort(),
        queue: [...queue].sort(),
      }
    },
    stop: () => stop(server),
  }
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
