import { describe, expect, it, vi } from 'vitest'
import { isAlive, sendSignal } from '../support/processes/processes.ts'
import { type ApiClient, createLocalClient, getExecutionId } from '../support/service/client.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'
import { serve } from '../tools/serve.ts'

const { newFolder, start } = temporaryServices()

const LONG_LEASE_SECONDS = 300
const SHORT_LEASE = { LEASE_SECONDS: '2' }
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

async function createWebhook(call: ApiClient, { url, host }: { url: string; host: string }, fields = {}) {
  const body = { url, allowedHosts: [host], ...fields }
  const { status, text, json } = await call('POST', '/v1/webhooks', { body })
  expect(status, text).toBe(201)
  return json
}

async function run(call: ApiClient, execMode = 'sync'): Promise<string> {
  const response = await call('POST', `/v1/agents/wait/executions?execMode=${execMode}`, {
    body: { seconds: 0 },
  })
  return response.json.id ?? getExecutionId(response)
}

describe('npm start, with webhooks', () => {
  it('delivers the events of runs in both processes, past a receiver that hangs, and stops', async () => {
    const folder = newFolder()
    // A receiver has a third of the lease to answer: more than the limit of each wait here, and than a stop takes.
    const service = await start(folder, { LEASE_SECONDS: String(LONG_LEASE_SECONDS) })
    const call = createLocalClient(service.url, folder)
    const [receiver, hanging] = [await startReceiver(), await startReceiver({ holds: true })]
    await createWebhook(call, receiver)
    await createWebhook(call, hanging)
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
