import { Agent, createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

export type Spent = {
  /** Requests by operation, as AWS names it. */
  requests: Record<string, number>
  /** Consumed units of table and indexes, as DynamoDB counts them. */
  readUnits: number
  writeUnits: number
  /** Of the bodies of requests that write. */
  writtenBytes: number
}

export type Meter = {
  url: string
  /** What has been spent since the last call of `take`. */
  take: () => Spent
  stop: () => Promise<void>
}

type Capacity = { CapacityUnits: number }

const READS = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan'])

/**
 * Stands between a service and a DynamoDB emulator, and asks with every request what it costs.
 * @param delayMs what the network and DynamoDB's own work would add to each request
 */
export async function startMeter({
  target,
  delayMs = 0,
}: {
  target: string
  delayMs?: number
}): Promise<Meter> {
  const { hostname, port } = new URL(target)
  const agent = new Agent({ keepAlive: true })
  let spent = nothing()

  function note(operation: string, request: Buffer, response: Buffer): void {
    const { ConsumedCapacity = [] } = JSON.parse(String(response)) as {
      ConsumedCapacity?: Capacity | Capacity[]
    }
    const units = [ConsumedCapacity].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0)
    spent.requests[operation] = (spent.requests[operation] ?? 0) + 1
    if (READS.has(operation)) spent.readUnits += units
    else {
      spent.writeUnits += units
      spent.writtenBytes += request.length
    }
  }

  const server = createServer(async (request, response) => {
    const operation = String(request.headers['x-amz-target'] ?? '').replace(/^.*\./, '')
    const asked = await buffer(request)
    const metered = Buffer.from(
      JSON.stringify({ ...JSON.parse(String(asked)), ReturnConsumedCapacity: 'TOTAL' }),
    )
    const { method, url, headers } = request
    if (delayMs > 0) await sleep(delayMs)
    const upstream = send(
      { hostname, port, method, path: url, headers: { ...headers, 'content-length': metered.length }, agent },
      async (answer) => {
        const body = await buffer(answer)
        if (answer.statusCode === 200) note(operation, asked, body)
        response.writeHead(answer.statusCode ?? 500, { 'content-type': 'application/x-amz-json-1.0' })
        response.end(body)
      },
    )
    upstream.once('error', () => response.destroy())
    upstream.end(metered)
  })
  server.keepAliveTimeout = 65_000

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take: () => {
      const taken = spent
      spent = nothing()
      return taken
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      agent.destroy()
      await closed
    },
  }
}

const nothing = (): Spent => ({ requests: {}, readUnits: 0, writeUnits: 0, writtenBytes: 0 })
