import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { FAULTS, type Fault, faultSchedule } from './fault-schedule.ts'

/** One request that was carried out, and its answer. */
export type Exchange = { operation: string; request: Buffer; status: number; response: Buffer }

type Options = {
  /** The emulator's address. */
  target: string
  kind: 'dynamodb' | 'sqs'
  seed: number
  /** Share of the requests that meet a fault. */
  rate?: number
  /** Called for each time that a request was carried out, before its answer is on its way. */
  onExchange?: (exchange: Exchange) => void
}

export type Counts = {
  requests: number
  /** By operation, as AWS names it. */
  operations: Record<string, number>
  faults: Record<Fault, number>
  /** Requests that the emulator did not answer: none, unless something is wrong. */
  broken: number
}

export type FaultProxy = {
  url: string
  counts: Counts
  setRate: (rate: number) => void
  stop: () => Promise<void>
}

type Answer = { status: number; headers: IncomingMessage['headers']; body: Buffer }

const RECEIVE = 'ReceiveMessage'
const DEFAULT_RATE = 0.05
/** Longer than any client keeps an idle connection: one that is closed under a request would be a fault too many. */
const KEEP_ALIVE_MS = 65_000

/** Stands between a service and an emulator, and makes its answers as unreliable as a network may make them. */
export async function startFaultProxy(options: Options): Promise<FaultProxy> {
  const { target, kind, seed, onExchange } = options
  const { hostname, port } = new URL(target)
  const nextFault = faultSchedule(seed, kind)
  const agent = new Agent({ keepAlive: true })
  let rate = options.rate ?? DEFAULT_RATE
  const counts: Counts = {
    requests: 0,
    operations: {},
    faults: Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Counts['faults'],
    broken: 0,
  }

  const server = createServer((request, response) => {
    const operation = String(request.headers['x-amz-target'] ?? '').replace(/^.*\./, '')
    counts.requests++
    counts.operations[operation] = (counts.operations[operation] ?? 0) + 1
    const drawn = nextFault(rate)
    // A second ReceiveMessage is no repetition: it takes other messages, and those of the first are lost on the way, which
    // is what `cut` does.
    const fault = operation === RECEIVE && drawn.fault === 'duplicate' ? null : drawn.fault
    if (fault) counts.faults[fault]++
    serve(request, response, { operation, fault, delayMs: drawn.delayMs }).catch(() => {
      if (!response.destroyed) counts.broken++
      response.destroy()
    })
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    { operation, fault, delayMs }: { operation: string; fault: Fault | null; delayMs: number },
  ): Promise<void> {
    // A long poll must not take messages for a client that has gone. What else was sent is carried out, as on a network.
    const gone = new AbortController()
    if (operation === RECEIVE) response.once('close', () => gone.abort())
    const body = await buffer(request)
    const carryOut = async () => {
      const answer = await forward(request, body, gone.signal)
      onExchange?.({ operation, request: body, status: answer.status, response: answer.body })
      return answer
    }
    if (fault === 'drop') return void response.destroy()
    if (fault === 'throttle') return reply(response, refusal(kind))
    if (fault === 'delay') await sleep(delayMs, undefined, { signal: gone.signal })
    if (fault === 'duplicate') await carryOut()
    const answer = await carryOut()
    if (fault === 'cut') return void response.destroy()
    reply(response, answer)
  }

  /** With the client's own `Host`, from which an emulator makes the addresses of queues. */
  function forward({ method, url, headers }: IncomingMessage, body: Buffer, signal: AbortSignal) {
    return new Promise<Answer>((resolve, reject) => {
      const upstream = send({ hostname, port, method, path: url, headers, agent, signal }, (answer) => {
        buffer(answer).then(
          (received) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: received }),
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
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      agent.destroy()
      await closed
    },
  }
}

/** How AWS says that a request is one too many; its SDK tries again. */
function refusal(kind: Options['kind']): Answer {
  const [status, __type, headers] =
    kind === 'dynamodb'
      ? ([400, 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException', {}] as const)
      : ([503, 'com.amazonaws.sqs#ServiceUnavailable', QUERY_ERROR] as const)
  const body = Buffer.from(JSON.stringify({ __type, message: 'A fault of the harness: slow down.' }))
  return { status, headers: { ...headers, 'content-type': 'application/x-amz-json-1.0' }, body }
}

/** SQS sends the code that its older protocol had beside the new one; the SDK takes it from here. */
const QUERY_ERROR = { 'x-amzn-query-error': 'ServiceUnavailable;Receiver' }

/** These describe a connection, not what is sent over it. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])

function reply(response: ServerResponse, { status, headers, body }: Answer): void {
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(name)) response.setHeader(name, value)
  }
  response.setHeader('content-length', body.length)
  response.writeHead(status)
  response.end(body)
}
