import { fileURLToPath } from 'node:url'
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

/** One side of the comparison. */
export type Contender = {
  /** The root of its processes. */
  pid: number
  /** With its database. */
  folder: string
  run: Operation
  /** Resolves with the id of an asynchronous run. */
  accept: () => Promise<string>
  /** When an asynchronous run finished; null if it has not. */
  readEnd: (id: string) => Promise<string | null>
}

/** Starts `npm start` in an empty folder, with the no-op agent. */
export async function startNoOps(workspace: Workspace) {
  const folder = await workspace.createFolder()
  const service = await startService(workspace, { folder, npm: true })
  await publish(workspace, service.table, NO_OP)
  const { sync: run, acceptRun: accept, ...others } = noOpRuns(service)
  const readEnd = async (id: string) => {
    const { body } = await service.request('GET', `/v1/agent_executions/${id}`, { status: 200 })
    const { status, finishedAt } = JSON.parse(body) as { status: string; finishedAt: string | null }
    if (status === 'ERROR') throw new Error(`A run failed: ${body}`)
    return finishedAt
  }
  return { ...others, pid: service.pid, folder, run, accept, readEnd } satisfies Contender
}

/** Starts the floor, and sends it the same requests. */
export async function startFloor(workspace: Workspace): Promise<Contender> {
  const folder = await workspace.createFolder()
  const { pid, url } = await startChild(workspace, { args: [FLOOR_SERVER, folder] })
  const post = (path: string, status: number) =>
    call({ method: 'POST', url: `${url}${path}`, headers: JSON_TYPE, body: OUTPUT, status })
  return {
    pid,
    folder,
    run: timed(async () => {
      const response = await post('', 200)
      assert(response.body === OUTPUT, 'Unexpected output of the floor', response)
    }),
    accept: async () => idOf(await post('/async', 202)),
    async readEnd(id) {
      const { body } = await call({ method: 'GET', url: `${url}/${id}`, status: 200 })
      return (JSON.parse(body) as { finishedAt?: string }).finishedAt ?? null
    },
  }
}

const idOf = ({ body }: Response) => (JSON.parse(body) as { id: string }).id

function assert(condition: boolean, message: string, { headers, body }: Response): void {
  if (!condition) throw new Error(`${message}: ${JSON.stringify(headers)} ${body}`)
}
