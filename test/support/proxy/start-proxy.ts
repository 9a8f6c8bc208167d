import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as send,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type ProxyRequest = {
  /** The AWS operation; the method of other requests. */
  operation: string
  /** The name that `urlFor` was called with, empty for `url`. */
  client: string
  body: Buffer
}

export type ProxyResponse = {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  /** Closes the connection after so many bytes of the body. */
  cutAt?: number
}

/** What the client gets: a response, or a closed connection. */
export type Reply = ProxyResponse | 'drop'

export type Next = (request: ProxyRequest) => Promise<Reply>

/** What a proxy does with a request. `next` leaves it to the next behavior; after the last one, it is forwarded. */
export type Behavior = (request: ProxyRequest, next: Next) => Promise<Reply>

export type HttpProxy = Awaited<ReturnType<typeof startProxy>>

/** Longer than any client keeps an idle connection: closing one under a request would be a fault of its own. */
const KEEP_ALIVE_MS = 65_000
/** Shorter than the emulators and the service keep theirs, for the same reason. */
const UPSTREAM_KEEP_ALIVE_MS = 2_000

/** Forwards requests to an emulator or to the service, as the behaviors say. */
export async function startProxy(target: string, ...initial: Behavior[]) {
  const { hostname, port } = new URL(target)
  const agent = new Agent({ keepAlive: true, timeout: UPSTREAM_KEEP_ALIVE_MS })
  const servers: Server[] = []
  const counts = {
    requests: 0,
    operations: {} as Record<string, number>,
    /** Requests that the target did not respond to: 0 unless something is wrong. */
    failed: 0,
  }
  let open = 0
  let behaviors = initial

  async function receive(incoming: IncomingMessage, response: ServerResponse, client: string): Promise<void> {
    open++
    response.once('close', () => open--)
    const operation = String(incoming.headers['x-amz-target'] ?? incoming.method).replace(/^.*\./, '')
    counts.requests++
    counts.operations[operation] = (counts.operations[operation] ?? 0) + 1
    // A long poll must not take messages for a client that has disconnected. Other requests are still forwarded.
    const disconnected = new AbortController()
    if (operation === 'ReceiveMessage') response.once('close', () => disconnected.abort())
    const forward: Next = ({ body }) => forwardTo(incoming, body, disconnected.signal)
    const handle = behaviors.reduceRight<Next>(
      (next, behavior) => (request) => behavior(request, next),
      forward,
    )
    try {
      respond(response, await handle({ operation, client, body: await buffer(incoming) }))
    } catch {
      if (!response.destroyed) counts.failed++
      response.destroy()
    }
  }

  /** Keeps the client's `Host` header, from which an emulator builds queue URLs. */
  function forwardTo({ method, url, headers }: IncomingMessage, body: Buffer, signal: AbortSignal) {
    return new Promise<ProxyResponse>((resolve, reject) => {
      const sent = { ...headers, ...(headers['content-length'] && { 'content-length': body.length }) }
      const upstream = send(
        { hostname, port, method, path: url, headers: sent, agent, signal },
        (response) => {
          const { statusCode: status = 0, headers } = response
          buffer(response).then((received) => resolve({ status, headers, body: received }), reject)
        },
      )
      upstream.once('error', reject)
      upstream.end(body)
    })
  }

  /** Another URL of the proxy, whose requests can be told from the others. */
  async function urlFor(client: string): Promise<string> {
    const server = createServer((request, response) => void receive(request, response, client))
    server.keepAliveTimeout = KEEP_ALIVE_MS
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  return {
    url: await urlFor(''),
    urlFor,
    counts,
    /** Replaces all behaviors; without any, requests are only forwarded. */
    use(...next: Behavior[]): void {
      behaviors = next
    },
    isIdle: () => open === 0,
    async stop(): Promise<void> {
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)))
      for (const server of servers) server.closeAllConnections()
      agent.destroy()
      await Promise.all(closed)
    },
  }
}

/** Headers of the connection, not of the message. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])

function respond(response: ServerResponse, reply: Reply): void {
  if (reply === 'drop') return void response.destroy()
  const { status, headers, body, cutAt } = reply
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(name)) response.setHeader(name, value)
  }
  response.setHeader('content-length', body.length)
  response.writeHead(status)
  if (cutAt === undefined) response.end(body)
  else response.write(body.subarray(0, cutAt), () => response.destroy())
}
