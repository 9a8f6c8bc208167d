import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type OperationName, operations } from '../../../../lib/contract/routes.ts'
import { system } from '../../../../lib/system.ts'
import type { Random } from '../../../support/data/random.ts'

/** The agent that these clients run. */
export const ECHO_AGENT = 'echo'

type Options = {
  urls: [string, ...string[]]
  token: string
  random: Random
  /** An execution whose data is requested; undefined while there is none. */
  executionId: () => string | undefined
}

/** When a client closes its connection. */
const MOMENTS = ['in the request', 'before the response', 'at the response', 'in the response'] as const

const MAX_BEFORE_MS = 40
const MAX_IN_MS = 400
/** How long a client waits for the first byte of a response. */
const MAX_WAIT_MS = 2_000

const BODIES: Partial<Record<OperationName, object>> = {
  'run-agent': { text: 'nobody waits for this' },
  'serve-mcp': { jsonrpc: '2.0', id: 1, method: 'tools/list' },
  'give-feedback': { rating: 1 },
}
const NAMES = Object.keys(operations) as [OperationName, ...OperationName[]]
/** Requests whose responses are streams: half of all. */
const STREAMS: [OperationName, ...OperationName[]] = ['stream-events', 'run-agent', 'serve-mcp']

/** Clients that close their connection: at every route, before, in and after the request and its response. */
export function createHangUps({ urls, token, random, executionId }: Options) {
  const counts: Record<string, number> = {}

  /** The bytes of a request. */
  function requestTo(name: OperationName, accept: string): Buffer {
    const { method, path } = operations[name]
    // Nothing that others use may change.
    const isHarmless = method === 'GET' || name === 'run-agent'
    const values: Record<string, string | undefined> = isHarmless
      ? { agentId: ECHO_AGENT, executionId: executionId() }
      : {}
    const target = path.replace(/\{(\w+)\}/g, (_, field: string) => values[field] ?? system.newId())
    const body = method === 'GET' || method === 'DELETE' ? '' : JSON.stringify(BODIES[name] ?? {})
    const lines = [
      `${method} ${target} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${token}`,
      `Accept: ${accept}`,
      ...(body ? ['Content-Type: application/json', `Content-Length: ${body.length}`] : []),
    ]
    return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
  }

  /** Sends one request and closes its connection at some moment. An error of the connection is ignored. */
  async function hangUp(): Promise<void> {
    const isStream = random.next() < 0.5
    const name = isStream ? random.pick(STREAMS) : random.pick(NAMES)
    const moment = random.pick(MOMENTS)
    const [share, isReset] = [random.next(), random.next() < 0.5]
    const bytes = requestTo(name, isStream ? 'text/event-stream, application/json' : 'application/json')
    const { hostname, port } = new URL(random.pick(urls))
    const socket = connect({ host: hostname, port: Number(port) })
    const ended = onceEnded(socket)
    socket.write(moment === 'in the request' ? bytes.subarray(0, Math.ceil(bytes.length * share)) : bytes)
    if (moment === 'before the response') await Promise.race([ended, sleep(share * MAX_BEFORE_MS)])
    if (moment === 'at the response' || moment === 'in the response') {
      await Promise.race([ended, onceReceived(socket), sleep(MAX_WAIT_MS)])
    }
    if (moment === 'in the response') await Promise.race([ended, sleep(share * MAX_IN_MS)])
    if (isReset) socket.resetAndDestroy()
    else socket.destroy()
    await ended
    counts[moment] = (counts[moment] ?? 0) + 1
  }

  return { hangUp, counts }
}

const onceEnded = (socket: Socket) =>
  new Promise<void>((resolve) => {
    socket.on('error', () => {})
    socket.once('close', () => resolve())
  })

const onceReceived = (socket: Socket) =>
  new Promise<void>((resolve) => {
    socket.once('data', () => resolve())
  })

const CLIENTS = 4
const PAUSE_MS = 200

/** Hangs up about 15 times a second until stopped. */
export function startHangUps(options: Options) {
  const { hangUp, counts } = createHangUps(options)
  let isStopping = false
  const repeat = async () => {
    while (!isStopping) {
      await hangUp()
      await sleep(PAUSE_MS)
    }
  }
  const repeating = Promise.all(Array.from({ length: CLIENTS }, repeat))
  return {
    counts,
    async stop(): Promise<void> {
      isStopping = true
      await repeating
    },
  }
}
