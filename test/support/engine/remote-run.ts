import type { IncomingMessage, ServerResponse } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { Remote, Version } from '../../../lib/core/agent.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { leaseTimes } from '../../../lib/core/lease-times.ts'
import type { NewExecution } from '../../../lib/core/new-execution.ts'
import type { QueuedExecution } from '../../../lib/core/ports/queues.ts'
import type { Engine } from '../../../lib/engine/engine.ts'
import { sendCallback } from '../../../lib/engine/waiting/send-signal.ts'
import { system } from '../../../lib/system.ts'
import { ensureSigningSecret } from '../../../lib/tools/egress/sign-webhook.ts'
import { startServer } from '../service/start-server.ts'
import { ownTable } from '../tables/memory-table.ts'
import { engineOn, receive } from './engine-on.ts'
import { executionOf } from './executions.ts'
import { aModelAgent } from './model-agent.ts'

export type Asked = {
  path: string
  headers: IncomingMessage['headers']
  text: string
  body: { input: JsonObject; execution: JsonObject; callbackUrl?: string }
}

/** What a remote agent does with a request; the number of the request, from 1. */
export type Behave = (response: ServerResponse, asked: Asked, number: number) => unknown

/** A server that behaves as a test says. `open`: connections that are open. */
export async function aRemote(behave: Behave) {
  const asked: Asked[] = []
  const { host, server, stop } = await startServer(async (request, response) => {
    const text = await readText(request)
    const received = { path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) }
    asked.push(received)
    response.on('error', () => undefined)
    await behave(response, received, asked.length)
  })
  onTestFinished(stop)
  const open = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
    )
  return { host, url: `http://${host}/agent`, asked, open }
}

export const answer = (response: ServerResponse, value: unknown, status = 200, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))

/** Answers with JSON lines; texts are sent as they are. */
export function stream(response: ServerResponse, ...lines: unknown[]) {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' })
  for (const line of lines) response.write(`${typeof line === 'string' ? line : JSON.stringify(line)}\n`)
  return response.end()
}

type Options = Partial<Engine> & {
  remote?: Partial<Remote>
  agent?: Partial<Version>
  execution?: Partial<NewExecution>
  withoutSecret?: boolean
}

const table = await ownTable()

/** A run of a remote agent whose messages are received when the test says so. */
export async function aRemoteRun(
  at: { host: string; url: string } | null,
  { remote, agent, execution: given, withoutSecret, ...overrides }: Options = {},
) {
  let offsetMs = 0
  const sent: (QueuedExecution & { delayMs?: number })[] = []
  const stores = engineOn(table)
  const engine: Engine = {
    ...stores,
    queue: { send: async (message: QueuedExecution) => void sent.push(message) },
    system: { ...system, now: () => Date.now() + offsetMs },
    // Retries follow at once.
    times: { ...leaseTimes(60_000, 100), retryDelayMs: 1 },
    environment: { PUBLIC_URL: 'https://service.example' } as Record<string, string>,
    ...overrides,
  }
  const version = await aModelAgent(
    {
      slug: `remote-${system.newId()}`,
      outputSchema: { answer: { type: 'string', description: 'The answer.' } },
      remote: { ...(at && { url: at.url, allowedHosts: [at.host] }), timeoutSeconds: 5, ...remote },
      ...agent,
    },
    { table },
  )
  const { organizationId } = version
  const now = engine.system.now()
  if (!withoutSecret) await ensureSigningSecret(stores.webhooks, { organizationId, now })
  const execution = executionOf(version, { input: { question: 'Why?' }, deadlineMs: 86_400_000, ...given })
  await engine.executions.create({ execution })
  const { id } = execution
  const process = (wakes = false, receiveCount = 1) => receive(engine, id, wakes, receiveCount)
  return {
    ...{ id, engine, stores, sent, version, execution, process, organizationId },
    passTime: (ms: number) => {
      offsetMs += ms
    },
    async stored() {
      const found = await engine.executions.get(execution)
      if (!found) throw new Error('The execution does not exist.')
      return found
    },
    steps: () => engine.steps.read({ executionId: id }),
    /** Delivers to the callback of a request, as the endpoint does. */
    callBack(callbackUrl: string | undefined, data: JsonObject) {
      const [, executionId = '', name = '', mac = ''] =
        /\/v1\/callbacks\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(callbackUrl ?? '') ?? []
      return sendCallback(engine, { executionId, name, mac, data })
    },
  }
}
