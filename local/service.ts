import { mkdir } from 'node:fs/promises'
import type { Server } from 'node:http'
import { type AddressInfo, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { leaseTimes } from '../lib/core/lease-times.ts'
import { LEASE_MS } from '../lib/core/limits.ts'
import { openStores } from '../lib/dynamodb/open-stores.ts'
import { emitCompleted } from '../lib/engine/completion-events.ts'
import {
  DYNAMODB_ENDPOINT,
  type Environment,
  LEASE_SECONDS,
  millisecondsOf,
  QUEUE_URL,
  SQS_ENDPOINT,
  TABLE_NAME,
} from '../lib/environment.ts'
import { ensureDevelopmentOrganization, ensureDevelopmentToken } from './development.ts'
import type { Emulator } from './dynamodb.ts'
import { localFunctions } from './functions.ts'
import { createGateway } from './gateway.ts'
import { dataFolder, LOCAL_TABLE, openStore } from './open-store.ts'
import { provisionQueues, QUEUE_NAME } from './provision.ts'
import { publishFolder } from './publish-folder.ts'
import { runnerOnDemand } from './runner-process.ts'
import { startSqs } from './sqs.ts'

const AGENTS = fileURLToPath(new URL('../agents', import.meta.url))
/** Answers to requests whose run goes on in the runner: accepted, or still running at the deadline. */
const QUEUED = [202, 504]
/** How long requests in flight may take to end after SIGTERM. */
const DRAIN_MS = 5_000

/**
 * The whole service on this machine, in the order in which its parts need each other.
 * @param say prints a line for the person who started it
 */
export async function runService(environment: Environment, say: (line: string) => void) {
  const host = environment.HOST || '127.0.0.1'
  const port = portOf(environment.PORT)
  // The environment is changed below.
  const hasForeignQueue = Boolean(environment[SQS_ENDPOINT])
  const stops: (() => Promise<void>)[] = []
  let announceEnd = async () => {}
  const stop = async () => {
    await announceEnd()
    for (const stopPart of stops.splice(0).reverse()) await stopPart()
  }
  try {
    const opening = [openStore('service', environment), openQueue(environment)] as const
    for (const part of opening) stops.push(async () => (await part).stop())
    const [store, queue] = await Promise.all(opening)
    announceEnd = store.announceEnd
    const { visibilityMs, heartbeatMs } = leaseTimes(millisecondsOf(LEASE_SECONDS, LEASE_MS, environment))
    const queues = await provisionQueues(queue.endpoint, QUEUE_NAME, Math.ceil(visibilityMs / 1000))
    // The functions read their configuration from the environment when they are loaded, as on Lambda.
    Object.assign(process.env, {
      POWERTOOLS_LOG_LEVEL: environment.POWERTOOLS_LOG_LEVEL || 'WARN',
      [TABLE_NAME]: LOCAL_TABLE,
      [DYNAMODB_ENDPOINT]: store.endpoint,
      [SQS_ENDPOINT]: queue.endpoint,
      [QUEUE_URL]: queues.runs,
    })
    const runner = runnerOnDemand({
      deadLetters: queues.deadLetters,
      onDeath: say,
      onWorked: emitCompleted,
    })
    stops.push(runner.stop)

    const { agents, executions, organizations, tokens } = openStores()
    /** Whether executions are open that nobody has worked on since then. */
    const isAnyLeft = async (now: number) => (await executions.listStale({ now, limit: 1 })).length > 0
    // In a queue that is not its own, somebody may have left messages.
    if (hasForeignQueue || (await isAnyLeft(Number.MAX_SAFE_INTEGER))) runner.need()
    await ensureDevelopmentOrganization(organizations)
    const folder = dataFolder(environment)
    await mkdir(folder, { recursive: true })
    const token = await ensureDevelopmentToken(tokens, folder, environment.DEV_TOKEN || undefined)
    const published = await publishFolder(agents, AGENTS, join(folder, 'published.json'))

    const { handlers, authorizer, sweep } = localFunctions()
    const sweepOnce = async () => {
      if (!(await isAnyLeft(Date.now()))) return
      runner.need()
      await sweep()
    }
    const sweeping = setInterval(() => sweepOnce().catch(complain), heartbeatMs)
    stops.push(async () => clearInterval(sweeping))

    const gateway = createGateway({
      handlers,
      authorizer,
      onAnswer: ({ method, path, status, ms }) => {
        if (QUEUED.includes(status)) runner.need()
        say(`${method} ${path} ${status} ${ms.toFixed(0)} ms`)
      },
    })
    await listen(gateway, host, port)
    stops.push(() => close(gateway))

    const url = urlOf(gateway, host)
    say(`data in ${store.name}, queue in ${queue.name}`)
    for (const { slug, isNew } of published) say(`agent ${slug}${isNew ? ', published' : ''}`)
    say(`\nTry it:\n${curlLine(url, token)}\n`)
    say(`ready ${url}`)
    return { url, token, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function curlLine(url: string, token: string): string {
  const input = { content: 'Write to ada@example.com or call +44 20 7946 0958.' }
  return [
    `curl -sS ${url}/v1/agents/redact-pii/executions`,
    `-H 'Authorization: Bearer ${token}'`,
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify(input)}'`,
  ].join(' ')
}

async function openQueue(environment: Environment): Promise<Emulator> {
  const endpoint = environment[SQS_ENDPOINT]
  return endpoint ? { name: endpoint, endpoint, stop: async () => undefined } : startSqs()
}

function portOf(text: string | undefined): number {
  const port = Number(text || 3000)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`PORT is "${text}"; it must be a whole number from 0 to 65535 (0 takes any free port).`)
  }
  return port
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE'
      reject(isTaken ? new Error(`Port ${port} of ${host} is taken. Set PORT to another one.`) : error)
    })
    server.listen(port, host, resolve)
  })
}

async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeIdleConnections()
  const killer = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  await closed
  clearTimeout(killer)
}

/** An address that a client on this machine can call, also when the server listens on all of them. */
function urlOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`
}

const complain = (error: unknown) => console.error('The sweeper failed:', error)
