import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Calls = { table: string[]; indexes: string[]; queue: string[] }

/**
 * Stands between AWS clients and the emulators, and notes who called what. A client says who it is by the path of its
 * endpoint.
 */
export async function startCallRecorder({ dynamodb, sqs }: { dynamodb: string; sqs: string }) {
  const seen = new Map<string, Record<keyof Calls, Set<string>>>()
  const of = (name: string) => {
    const calls = seen.get(name) ?? { table: new Set(), indexes: new Set(), queue: new Set() }
    seen.set(name, calls)
    return calls
  }

  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const [service = '', action = ''] = String(request.headers['x-amz-target']).split('.')
    const calls = of(request.url?.split('/')[1] ?? '')
    const isQueue = service === 'AmazonSQS'
    const { IndexName } = JSON.parse(body.toString())
    if (isQueue) calls.queue.add(action)
    else if (action === 'Query' && IndexName) calls.indexes.add(IndexName)
    else calls.table.add(action)

    const { host, 'content-length': length, connection, ...headers } = request.headers
    const answer = await fetch(isQueue ? sqs : dynamodb, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: new Uint8Array(body),
    })
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' })
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    endpointOf: (name: string) => `http://127.0.0.1:${port}/${name}`,
    callsOf: (name: string): Calls => {
      const { table, indexes, queue } = of(name)
      return { table: [...table].sort(), indexes: [...indexes].sort(), queue: [...queue].sort() }
    },
    stop: () => stop(server),
  }
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
