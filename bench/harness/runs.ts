import { fileURLToPath } from 'node:url'
import { withThread } from '../../lib/engine/code-agent/thread-pool.ts'
import { startChild } from './child-process.ts'
import { call, type Response } from './client.ts'
import { type Operation, timed } from './rounds.ts'
import { publish, type Service, startService } from './service.ts'
import type { Workspace } from './workspace.ts'

const FLOOR_SERVER = fileURLToPath(new URL('../servers/floor-server.ts', import.meta.url))

/** An agent that returns its input: what remains is the cost of the service. */
export const NO_OP = {
  slug: 'no-op',
  files: {
    'agent.md': `---
title: No-op
description: Returns its input.
code: true
input:
  text: { type: string, description: Any text. }
output:
  text: { type: string, description: The same text. }
---
`,
    'agent.ts': 'export default ({ text }: { text: string }) => ({ text })\n',
  },
}

const PATH = '/v1/agents/no-op/executions'
const INPUT = { text: 'The quick brown fox jumps over the lazy dog. '.repeat(3) }
const JSON_TYPE = { 'content-type': 'application/json' }
const OUTPUT = JSON.stringify(INPUT)

export type Accept = () => Promise<string>

/** The no-op agent in a warm thread, as the engine runs it, without the rest of a run: what isolation adds. */
export function isolatedCall(): Operation {
  const url = `data:text/javascript,${encodeURIComponent('export default ({ text }) => ({ text })')}`
  const key = { version: 'bench', tenantId: null, environment: '', depth: 0 }
  const code = { url, sha256: null }
  const task = { code, input: OUTPUT, executionId: '', tenantId: null, storedSteps: [] }
  return timed(
    () =>
      new Promise<void>((resolve) => {
        void withThread(key, { environment: {}, memoryMb: 64 }, (thread) =>
          thread.execute(task, ({ type }) => {
            if (type === 'result') resolve()
          }),
        )
      }),
  )
}

/** The ways to run the no-op agent. Every response is checked. */
export function noOpRuns(service: Service) {
  const post = (query: string, status: number) =>
    service.request('POST', `${PATH}${query}`, { status, body: INPUT })
  const acceptRun = async () => idOf(await post('?execMode=async', 202))
  let lastId = ''

  return {
    /** Resolves with the id of an asynchronous run. */
    acceptRun,

    sync: timed(async () => {
      const response = await post('', 200)
      assert(response.body === OUTPUT, 'Unexpected output of a run', response)
      lastId = String(response.headers['x-execution-id'])
    }),

    /** Reads the last synchronous run. */
    read: timed(() => service.request('GET', `/v1/agent_executions/${lastId}`, { status: 200 })),

    /** Stores the result that `cached` reuses. */
    fillCache: () => post('?useCache=true', 200),

    cached: timed(async () => {
      const response = await post('?useCache=true', 200)
      const isHit = response.headers['x-cached-document-execution-id'] !== undefined
      assert(isHit && response.body === OUTPUT, 'Not a cache hit', response)
    }),

    /** Until the 202 response. Waits for the end of the run afterwards. */
    async accept() {
      let id = ''
      const ms = await timed(async () => {
        id = await acceptRun()
      })()
      await waitForResult(service, id)
      return ms
    },

    /** Its latency is the time from the 202 response until a GET with `Prefer: wait` has returned the result. */
    async async() {
      const id = await acceptRun()
      return timed(() => waitForResult(service, id))()
    },
  }
}

/** Waits for the end of an asynchronous run. @throws an Error if its output is another one */
export async function waitForResult(service: Service, id: string, expected: object = INPUT): Promise<void> {
  for (;;) {
    const options = { status: 200, headers: { prefer: 'wait=25' } }
    const response = await service.request('GET', `/v1/agent_executions/${id}`, options)
    const { status, output } = JSON.parse(response.body) as { status: string; output: unknown }
    if (status === 'IN_PROGRESS') continue
    const isExpected = JSON.stringify(output) === JSON.stringify(expected)
    assert(isExpected, 'Unexpected result of an asynchronous run', response)
    return
  }
}

/** Starts the service with the no-op agent, and the floor server on the same database. */
export async function startWithFloor(workspace: Workspace) {
  const service = await startService(workspace, { hasPort: true })
  const { agentId } = await publish(workspace, service.table, NO_OP)
  return {
    service,
    floor: await startChild(workspace, { args: [FLOOR_SERVER, service.dynamodbEndpoint, agentId] }),
  }
}

/** The same request to the floor server. */
export function floorRun(url: string): Operation {
  return timed(async () => {
    const response = await call({ method: 'POST', url, headers: JSON_TYPE, body: OUTPUT, status: 200 })
    assert(response.body === OUTPUT, 'Unexpected output of the floor', response)
  })
}

/** An asynchronous run on the floor server. */
export const floorAccept =
  (url: string): Accept =>
  async () =>
    idOf(await call({ method: 'POST', url: `${url}/async`, headers: JSON_TYPE, body: OUTPUT, status: 202 }))

const idOf = ({ body }: Response) => (JSON.parse(body) as { id: string }).id

function assert(condition: boolean, message: string, { headers, body }: Response): void {
  if (!condition) throw new Error(`${message}: ${JSON.stringify(headers)} ${body}`)
}
