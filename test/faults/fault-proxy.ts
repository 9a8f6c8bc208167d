import {
  Agent,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as send,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  FAULTS,
  type Fault,
  faultSchedule,
  itemRejection,
  MAX_DELAY_MS,
  type ProxyKind,
  type RawResponse,
  throttlingError,
} from './injected-faults.ts'

export { FAULTS, type Fault, faultSchedule }

/** What a rule can also do instead of forwarding: `reject`, refuse the item for good; `hang`, never respond. */
export type Injection = Fault | 'reject' | 'hang'

/** `client` is the name that `urlFor` was called with, empty for `url`. */
export type ProxyRequest = { operation: string; body: Buffer; client: string }

/** A forwarded request and its response. */
export type Exchange = { operation: string; request: Buffer; status: number; response: Buffer }

type Options = {
  /** The endpoint of the emulator or of the service. */
  target: string
  kind: ProxyKind
  seed: number
  /** Share of the requests that get a fault. */
  rate: number
  /** Called for each forwarded request, before its response is returned. */
  onExchange?: (exchange: Exchange) => void
  /** Selects what happens to a request by its contents. Null leaves that to the rate. */
  inject?: (request: ProxyRequest) => Injection | null
  /** Changes the body of a request before it is forwarded. */
  rewrite?: (request: ProxyRequest) => Buffer
}

export type Counts = {
  requests: number
  /** By AWS operation name; by method for the service. */
  operations: Record<string, number>
  faults: Record<Fault, number>
  /** Requests that the target did not respond to: 0 unless something is wrong. */
  failed: number
}

export type FaultProxy = {
  url: string
  /** Another URL of the proxy, whose requests can be told from the others. */
  urlFor: (client: string) => Promise<string>
  counts: Counts
  setRate: (rate: number) => void
  /** Delays every request by so many milliseconds before it is forwarded. 0 at first. */
  setLatency: (ms: number) => void
  stop: () => Promise<void>
}

const RECEIVE = 'ReceiveMessage'

const KEEP_ALIVE_MS = 65_000

/** Forwards requests and injects faults at a given rate. */
export async function startFaultProxy(options: Options): Promise<FaultProxy> {
  const { target, kind, seed, onExchange, inject, rewrite } = options
  const { hostname, port } = new URL(target)
  const nextFault = faultSchedule(seed, kind)
  const agent = new Agent({ keepAlive: true })
  let { rate } = options
  let latencyMs = 0
  const counts: Counts = {
    requests: 0,
    operations: {},
    faults: Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Counts['faults'],
    failed: 0,
  }

  const servers: Server[] = []

  async function listen(client: string): Promise<string> {
    const server = createServer((request, response) => receive(request, response, client))
    // Longer than any client keeps an idle connection: closing one under a request would be an uncounted fault.
    server.keepAliveTimeout = KEEP_ALIVE_MS
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  function receive(request: IncomingMessage, response: ServerResponse, client: string): void {
    const target = String(request.headers['x-amz-target'] ?? request.method)
    const operation = target.replace(/^.*\./, '')
    counts.requests++
    counts.operations[operation] = (counts.operations[operation] ?? 0) + 1
    const next = nextFault(rate)
    // A second ReceiveMessage returns other messages and loses those of the first, which is what `cut` does.
    const fault = operation === RECEIVE && next.fault === 'duplicate' ? null : next.fault
    serve(request, response, { operation, client, fault, delayMs: next.delayMs }).catch(() => {
      if (!response.destroyed) counts.failed++
      response.destroy()
    })
  }

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    scheduled: { operation: string; client: string; fault: Fault | null; delayMs: number },
  ): Promise<void> {
    const { operation, client, delayMs } = scheduled
    // A long poll must not take messages for a client that has disconnected. Other requests are still forwarded.
    const disconnected = new AbortController()
    if (operation === RECEIVE) response.once('close', () => disconnected.abort())
    const received: ProxyRequest = { operation, client, body: await buffer(request) }
    const injection = inject?.(received) ?? null
    if (injection === 'hang') return
    if (injection === 'reject') return respond(response, itemRejection())
    if (!injection && scheduled.fault) counts.faults[scheduled.fault]++
    const fault = injection ?? scheduled.fault
    const body = rewrite?.(received) ?? received.body
    const forwarded = async () => {
      const forwardedResponse = await forward(request, body, disconnected.signal)
      const { status, body: content } = forwardedResponse
      onExchange?.({ operation, request: body, status, response: content })
      return forwardedResponse
    }
    if (fault === 'drop') return void response.destroy()
    if (fault === 'throttle') return respond(response, throttlingError(kind, delayMs))
    const waitMs = latencyMs + (fault === 'delay' ? delayMs : 0)
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: disconnected.signal })
    const first = fault === 'duplicate' ? forwarded() : null
    if (kind !== 'service') await first
    const [answer] = await Promise.all([forwarded(), first])
    if (fault === 'cut') return cut(response, answer, kind === 'service' && delayMs > MAX_DELAY_MS / 2)
    respond(response, answer)
  }

  /** Keeps the client's `Host` header, from which an emulator builds queue URLs. */
  function forward({ method, url, headers }: IncomingMessage, body: Buffer, signal: AbortSignal) {
    return new Promise<RawResponse>((resolve, reject) => {
      const sent = { ...headers, ...(headers['content-length'] && { 'content-length': body.length }) }
      const upstream = send(
        { hostname, port, method, path: url, headers: sent, agent, signal },
        (response) => {
          buffer(response).then(
            (received) =>
              resolve({ status: response.statusCode ?? 0, headers: response.headers, body: received }),
            reject,
          )
        },
      )
      upstream.once('error', reject)
      upstream.end(body)
    })
  }

  return {
    url: await listen(''),
    urlFor: listen,
    counts,
    setRate: (next) => {
      rate = next
    },
    setLatency: (ms) => {
      latencyMs = ms
    },
    stop: async () => {
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)))
      for (const server of servers) server.closeAllConnections()
      agent.destroy()
      await Promise.all(closed)
    },
  }
}

/** Closes the connection instead of a response, or after half of its body. */
function cut(response: ServerResponse, { status, headers, body }: RawResponse, inBody: boolean): void {
  if (!inBody) return void response.destroy()
  response.writeHead(status, { ...headers, 'content-length': body.length })
  response.write(body.subarray(0, body.length / 2), () => response.destroy())
}

/** Headers of the connection, not of the message. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])

function respond(response: ServerResponse, { status, headers, body }: RawResponse): void {
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(name)) response.setHeader(name, value)
  }
  response.setHeader('content-length', body.length)
  response.writeHead(status)
  response.end(body)
}
