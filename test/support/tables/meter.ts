import { Agent, createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

export type Spent = {
  /** Number of requests by operation. */
  requests: Record<string, number>
  /** Consumed capacity units of table and indexes. */
  readUnits: number
  writeUnits: number
  /** Size of the bodies of write requests. */
  writtenBytes: number
}

export type Meter = {
  url: string
  /** What was consumed since the last call of `take`. */
  take: () => Spent
  stop: () => Promise<void>
}

type Capacity = { CapacityUnits: number }

const READS = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan'])

/**
 * A proxy in front of a DynamoDB emulator that counts requests and their consumed capacity.
 * @param delayMs latency added to each request
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
  let spent = noUsage()

  function record(operation: string, request: Buffer, response: Buffer): void {
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
    const body = await buffer(request)
    const metered = Buffer.from(
      JSON.stringify({ ...JSON.parse(String(body)), ReturnConsumedCapacity: 'TOTAL' }),
    )
    const { method, url, headers } = request
    if (delayMs > 0) await sleep(delayMs)
    const upstream = send(
      { hostname, port, method, path: url, headers: { ...headers, 'content-length': metered.length }, agent },
      async (upstreamResponse) => {
        const responseBody = await buffer(upstreamResponse)
        if (upstreamResponse.statusCode === 200) record(operation, body, responseBody)
        response.writeHead(upstreamResponse.statusCode ?? 500, {
          'content-type': 'application/x-amz-json-1.0',
        })
        response.end(responseBody)
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
      spent = noUsage()
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

const noUsage = (): Spent => ({ requests: {}, readUnits: 0, writeUnits: 0, writtenBytes: 0 })
