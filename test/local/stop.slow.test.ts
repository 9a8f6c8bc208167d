import { describe, expect, it, vi } from 'vitest'
import { isAlive, sendSignal } from '../support/processes/processes.ts'
import {
  type ApiClient,
  createLocalClient,
  getExecutionId,
  waitForExecution,
} from '../support/service/client.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'
import { serve } from '../tools/serve.ts'

const { newFolder, start } = temporaryServices()

/** What the process of a synchronous run cannot give back is continued when its lease has expired. */
const SHORT_LEASE = { LEASE_SECONDS: '2' }

/** A service with a synchronous and an asynchronous run in progress. */
async function startWithRuns(seconds: number) {
  const folder = newFolder()
  const service = await start(folder, SHORT_LEASE)
  const call = createLocalClient(service.url, folder)
  const runs = '/v1/agents/wait/executions'
  const sync = call('POST', runs, { body: { seconds } }).catch(() => null)
  const { json } = await call('POST', `${runs}?execMode=async`, { body: { seconds } })
  const isRunning = async () => (await call('GET', `/v1/agent_executions/${json.id}`)).json.startedAt !== null
  await vi.waitUntil(isRunning)
  return { folder, service, sync }
}

describe('Ctrl-C', () => {
  it('says what is in progress; the next start on its port waits for it, and continues that', async () => {
    const { folder, service, sync } = await startWithRuns(5)
    sendSignal(service.pid, 'SIGINT')
    const next = await start(folder, { ...SHORT_LEASE, PORT: new URL(service.url).port })
    expect(isAlive(service.pid)).toBe(false)
    expect(await service.stop()).toBe(0)
    expect(service.stdout()).toMatch(
      /^Stopping: waiting up to 3 s for 1 request and 2 runs in progress\. .*continue at the next start/m,
    )
    await sync

    const call = createLocalClient(next.url, folder)
    const listed = await call('GET', '/v1/agent_executions')
    expect(listed.json).toHaveLength(2)
    for (const execution of listed.json)
      expect(await waitForExecution(call, execution.id, 40_000)).toMatchObject({ status: 'SUCCESS' })
    await next.stop()
  })

  it('stops at once when it is pressed again, which npm’s forwarding of the first does not do', async () => {
    const { service } = await startWithRuns(60)
    sendSignal(service.pid, 'SIGINT')
    sendSignal(service.pid, 'SIGINT')
    await vi.waitUntil(() => service.stdout().includes('Stopping'))
    expect(isAlive(service.pid)).toBe(true)
    await vi.waitUntil(() => !sendSignal(service.pid, 'SIGINT'), { interval: 50 })
    expect(await service.stop()).toBe(130)
    expect(service.stdout()).toContain('Stopped at once.')
  })
})

const WAIT = { timeout: 30_000, interval: 20 }

/** A receiver. `holds` keeps requests open. */
async function startReceiver({ holds = false } = {}) {
  const options = { holds }
  const server = await serve((response) => {
    if (!options.holds) response.writeHead(204).end()
  })
  const ids = () => server.received.map(({ body }) => JSON.parse(body).data.id as string)
  return { ...server, ids, answer: () => Object.assign(options, { holds: false }) }
}

async function run(call: ApiClient, execMode: string): Promise<string> {
  const body = { seconds: 0 }
  const response = await call('POST', `/v1/agents/wait/executions?execMode=${execMode}`, { body })
  return response.json.id ?? getExecutionId(response)
}

describe('npm start, with webhooks', () => {
  it('delivers the events of runs in both processes, past a receiver that hangs, and stops', async () => {
    const folder = newFolder()
    // A receiver has a third of the lease to answer: more than the limit of each wait here, and than a stop takes.
    const service = await start(folder, { LEASE_SECONDS: '300' })
    const call = createLocalClient(service.url, folder)
    const [receiver, hanging] = [await startReceiver(), await startReceiver({ holds: true })]
    for (const { url, host } of [receiver, hanging]) {
      const body = { url, allowedHosts: [host] }
      expect((await call('POST', '/v1/webhooks', { body })).status).toBe(201)
    }
    const ids: string[] = []
    for (let i = 0; i < 10; i++) {
      ids.push(await run(call, i % 2 === 0 ? 'sync' : 'async'))
      await vi.waitUntil(() => receiver.ids().includes(ids[i] ?? ''), WAIT)
    }
    expect(hanging.received.length).toBeGreaterThan(0)

    sendSignal(service.pid, 'SIGTERM')
    await vi.waitUntil(() => !isAlive(service.pid), WAIT)
    expect(await service.stop()).toBe(0)

    // What the hanging receiver did not confirm is sent again by the next start.
    const before = hanging.received.length
    hanging.answer()
    const next = await start(folder, SHORT_LEASE)
    const confirmed = () => hanging.ids().slice(before)
    await vi.waitUntil(() => ids.every((id) => confirmed().includes(id)), { ...WAIT, timeout: 120_000 })
    await next.stop()
  })
})
