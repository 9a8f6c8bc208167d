import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'

type LoggedRequest = { operation: string; startedAt: number; endedAt: number }

/** Proxies in front of a table and a queue, which log when requests start and when their responses have been sent. */
export async function startRequestLog(targets: Record<'dynamodb' | 'sqs', string>) {
  let log: LoggedRequest[] = []

  async function startProxy(target: string) {
    const { hostname, port } = new URL(target)
    const server = createServer((request, response) => {
      const startedAt = performance.now()
      const operation = String(request.headers['x-amz-target']).replace(/^.*\./, '')
      const { method, url, headers } = request
      const upstream = send({ hostname, port, method, path: url, headers, agent: false }, (received) => {
        response.writeHead(received.statusCode ?? 502, received.headers)
        const end = () => void log.push({ operation, startedAt, endedAt: performance.now() })
        pipeline(received, response).then(end, () => response.destroy())
      })
      upstream.once('error', () => response.destroy())
      pipeline(request, upstream).catch(() => response.destroy())
    })
    server.keepAliveTimeout = 65_000
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return server
  }

  const [dynamodb, sqs] = [await startProxy(targets.dynamodb), await startProxy(targets.sqs)]
  const urlOf = (server: typeof dynamodb) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    dynamodb: urlOf(dynamodb),
    sqs: urlOf(sqs),
    /** The requests since the last call, by the order of their ends. */
    take(): LoggedRequest[] {
      const taken = log
      log = []
      return taken.sort((a, b) => a.endedAt - b.endedAt)
    },
    stop(): void {
      for (const server of [dynamodb, sqs]) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

/** The operations of a longest chain of requests in which each started after the one before had ended. */
export function sequentialOperations(requests: LoggedRequest[]): string[] {
  const chain: LoggedRequest[] = []
  for (const request of requests) if (request.startedAt >= (chain.at(-1)?.endedAt ?? 0)) chain.push(request)
  return chain.map(({ operation }) => operation)
}
