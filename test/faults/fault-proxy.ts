import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { seededRandom } from '../support/random.ts'

/**
 * What can happen to a request between the service and an emulator, or between a client and the service:
 * `delay`, it is forwarded later; `drop`, the connection is closed before it is forwarded; `duplicate`, it is forwarded
 * twice (to the service at the same time) and the second response is returned; `throttle`, it is rejected and not
 * forwarded; `cut`, it is forwarded, and the connection is closed instead of a response (of the service, or in its body).
 */
export const FAULTS = ['delay', 'drop', 'duplicate', 'throttle', 'cut'] as const

export type Fault = (typeof FAULTS)[number]

/** A forwarded request and its response. */
export type Exchange = { operation: string; request: Buffer; status: number; response: Buffer }

type Options = {
  /** The endpoint of the emulator or of the service. */
  target: string
  kind: 'dynamodb' | 'sqs' | 'service'
  seed: number
  /** Share of the requests that get a fault. */
  rate: number
  /** Called for each forwarded request, before its response is returned. */
  onExchange?: (exchange: Exchange) => void
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
  counts: Counts
  setRate: (rate: number) => void
  /** Delays every request by so many milliseconds before it is forwarded. 0 at first. */
  setLatency: (ms: number) => void
  stop: () => Promise<void>
}

type Response = { status: number; headers: IncomingMessage['headers']; body: Buffer }

const RECEIVE = 'ReceiveMessage'
const MIN_DELAY_MS = 50
const MAX_DELAY_MS = 500

/** Longer than any client keeps an idle connection: closing one under a request would be an uncounted fault. */
const KEEP_ALIVE_MS = 65_000

/** Forwards requests and injects faults at a given rate. */
export async function startFaultProxy(options: Options): Promise<FaultProxy> {
  const { target, kind, seed, onExchange } = options
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

  const server = createServer((request, response) => {
    const target = String(request.headers['x-amz-target'] ?? request.method)
    const operation = target.replace(/^.*\./, '')
    counts.requests++
    counts.operations[operation] = (counts.operations[operation] ?? 0) + 1
    const next = nextFault(rate)
    // A second ReceiveMessage returns other messages and loses those of the first, which is what `cut` does.
    const fault = operation === RECEIVE && next.fault === 'duplicate' ? null : next.fault
    if (fault) counts.faults[fault]++
    serve(request, response, { operation, fault, delayMs: next.delayMs }).catch(() => {
      if (!response.destroyed) counts.failed++
      response.destroy()
    })
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    { operation, fault, delayMs }: { operation: string; fault: Fault | null; delayMs: number },
  ): Promise<void> {
    // A long poll must not take messages for a client that has disconnected. Other requests are still forwarded.
    const disconnected = new AbortController()
    if (operation === RECEIVE) response.once('close', () => disconnected.abort())
    const body = await buffer(request)
    const forwarded = async () => {
      const received = await forward(request, body, disconnected.signal)
      onExchange?.({ operation, request: body, status: received.status, response: received.body })
      return received
    }
    if (fault === 'drop') return void response.destroy()
    if (fault === 'throttle') return respond(response, throttlingError(kind, delayMs))
    const waitMs = latencyMs + (fault === 'delay' ? delayMs : 0)
    if (waitMs > 0) await sleep(waitMs, undefined, { signal: disconnected.signal })
    const first = fault === 'duplicate' ? forwarded() : null
    if (kind !== 'service') await first
    const [received] = await Promise.all([forwarded(), first])
    if (fault === 'cut') return cut(response, received, kind === 'service' && delayMs > MAX_DELAY_MS / 2)
    respond(response, received)
  }

  /** Keeps the client's `Host` header, from which an emulator builds queue URLs. */
  function forward({ method, url, headers }: IncomingMessage, body: Buffer, signal: AbortSignal) {
    return new Promise<Response>((resolve, reject) => {
      const upstream = send({ hostname, port, method, path: url, headers, agent, signal }, (response) => {
        buffer(response).then(
          (received) =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: received }),
          reject,
        )
      })
      upstream.once('error', reject)
      upstream.end(body)
    })
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    setRate: (next) => {
      rate = next
    },
    setLatency: (ms) => {
      latencyMs = ms
    },
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      agent.destroy()
      await closed
    },
  }
}

/** The faults of a proxy's requests, in order. Each kind of fault is equally likely. */
export function faultSchedule(seed: number, kind: Options['kind']) {
  const random = seededRandom(seed, `faults of ${kind}`)
  return (rate: number): { fault: Fault | null; delayMs: number } => {
    // Always two draws, so that the nth request's values depend only on the seed.
    const [chance, delay] = [random.next(), random.next()]
    const fault = chance < rate ? FAULTS[Math.floor((chance / rate) * FAULTS.length)] : undefined
    return { fault: fault ?? null, delayMs: MIN_DELAY_MS + delay * (MAX_DELAY_MS - MIN_DELAY_MS) }
  }
}

/** The responses that clients of the service retry. */
const THROTTLED = [408, 429, 429, 502, 503, 503]

/** A response that the SDK or a client of the service retries. `delayMs` selects one. */
function throttlingError(kind: Options['kind'], delayMs: number): Response {
  if (kind === 'service') {
    const status = THROTTLED[Math.floor(delayMs) % THROTTLED.length] ?? 503
    return { status, headers: { 'retry-after': '0' }, body: Buffer.from('Injected fault: slow down.') }
  }
  const [status, __type, headers] =
    kind === 'dynamodb'
      ? ([400, 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException', {}] as const)
      : ([503, 'com.amazonaws.sqs#ServiceUnavailable', QUERY_ERROR] as const)
  const body = Buffer.from(JSON.stringify({ __type, message: 'Injected fault: slow down.' }))
  return { status, headers: { ...headers, 'content-type': 'application/x-amz-json-1.0' }, body }
}

/** SQS also sends the error code of its query protocol, which the SDK reads from this header. */
const QUERY_ERROR = { 'x-amzn-query-error': 'ServiceUnavailable;Receiver' }

/** Closes the connection instead of a response, or after half of its body. */
function cut(response: ServerResponse, { status, headers, body }: Response, inBody: boolean): void {
  if (!inBody) return void response.destroy()
  response.writeHead(status, { ...headers, 'content-length': body.length })
  response.write(body.subarray(0, body.length / 2), () => response.destroy())
}

/** Headers of the connection, not of the message. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])

function respond(response: ServerResponse, { status, headers, body }: Response): void {
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(name)) response.setHeader(name, value)
  }
  response.setHeader('content-length', body.length)
  response.writeHead(status)
  response.end(body)
}
