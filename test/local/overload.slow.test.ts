import { type ChildProcess, spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import { type ApiClient, createLocalClient } from '../support/service/client.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const services = temporaryServices()
/** At night, as many as made runs fail. */
const LINES = inject('isNightly') ? 400 : 24
const WAIT = { timeout: inject('isNightly') ? 1_800_000 : 600_000, interval: 500 }

let call: ApiClient
const loops: ChildProcess[] = []

beforeAll(async () => {
  const folder = services.newFolder()
  const service = await services.start(folder)
  call = createLocalClient(service.url, folder)
  for (let core = 0; core < availableParallelism(); core++)
    loops.push(spawn(process.execPath, ['-e', 'for(;;);'], { stdio: 'ignore' }))
})
afterAll(() => {
  for (const loop of loops) loop.kill('SIGKILL')
})

async function start(seconds: number): Promise<string> {
  const body = Array.from({ length: LINES }, (_, line) => ({ customId: `c${line}`, input: { seconds } }))
  const started = await call('POST', '/v1/agents/wait/batches?maxConcurrency=200', { body })
  return `/v1/batches/${started.json.id}`
}
const isEnded = async (path: string) => (await call('GET', path)).json.status === 'ENDED'

it('makes no run fail when every core is busy', { timeout: WAIT.timeout }, async () => {
  const path = await start(0.5)
  await vi.waitUntil(() => isEnded(path), WAIT)
  expect((await call('GET', path)).json.counts).toEqual({ IN_PROGRESS: 0, SUCCESS: LINES, ERROR: 0 })
})
