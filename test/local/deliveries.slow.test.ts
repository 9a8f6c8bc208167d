import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { childrenOf, isAlive, sendSignal } from '../support/processes/processes.ts'
import { type ApiClient, createLocalClient, getExecutionId } from '../support/service/client.ts'
import type { Service } from '../support/service/start-service.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'
import { serve } from '../tools/serve.ts'

const { newFolder, start } = temporaryServices()

/** The runner abandons deliveries after 2 s, and is killed after 5 s. */
const MAX_STOP_MS = 4_500
/** What a receiver has of a lease to answer. */
const RECEIVER_SHARE = 1 / 3
const LONG_LEASE_SECONDS = 30
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

const hasRunner = async ({ pid }: Service) => (await childrenOf(pid, 'runner.ts')).length > 0

describe('npm start, with webhooks', () => {
  it('delivers the events of runs in both processes, past a receiver that hangs, and stops', async () => {
    const folder = newFolder()
    // The receiver that hangs has longer to answer than this service takes to stop.
    const service = await start(folder, { LEASE_SECONDS: String(LONG_LEASE_SECONDS) })
    const call = createLocalClient(service.url, folder)
    const [receiver, hanging] = [await startReceiver(), await startReceiver({ holds: true })]
    await createWebhook(call, receiver)
    await createWebhook(call, hanging)
    expect(await hasRunner(service)).toBe(false)
    const ids: string[] = []
    const delays: number[] = []
    for (let i = 0; i < 40; i++) {
      ids.push(await run(call, i % 2 === 0 ? 'sync' : 'async'))
      const endedAt = performance.now()
      await vi.waitUntil(() => receiver.ids().includes(ids[i] ?? ''), WAIT)
      delays.push(performance.now() - endedAt)
    }
    // None has waited for the receiver that hangs. The first runner and its functions have to be loaded.
    const hangingMs = RECEIVER_SHARE * LONG_LEASE_SECONDS * 1_000
    expect(Math.max(...delays.slice(2))).toBeLessThan(hangingMs / 2)
    expect(hanging.received.length).toBeGreaterThan(0)

    const stoppedAt = performance.now()
    sendSignal(service.pid, 'SIGTERM')
    await vi.waitUntil(() => !isAlive(service.pid), WAIT)
    expect(performance.now() - stoppedAt).toBeLessThan(MAX_STOP_MS)
    expect(await service.stop()).toBe(0)

    // What the hanging receiver did not confirm is sent again by the next start.
    const before = hanging.received.length
    hanging.answer()
    const next = await start(folder, SHORT_LEASE)
    const confirmed = () => hanging.ids().slice(before)
    await vi.waitUntil(() => ids.every((id) => confirmed().includes(id)), { ...WAIT, timeout: 120_000 })
    await next.stop()
  })

  it('delivers the end of a batch, whose deliveries are deleted with it', async () => {
    const folder = newFolder()
    const service = await start(folder, SHORT_LEASE)
    const call = createLocalClient(service.url, folder)
    const receiver = await startReceiver()
    const webhook = await createWebhook(call, receiver, { types: ['batch.ended'] })
    const body = Array.from({ length: 20 }, (_, i) => ({ customId: `line-${i}`, input: { seconds: 0 } }))
    const { status, json: batch } = await call('POST', '/v1/agents/wait/batches', { body })
    expect(status, JSON.stringify(batch)).toBe(202)
    await vi.waitUntil(() => receiver.ids().length > 0, WAIT)
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      type: 'batch.ended',
      data: (await call('GET', `/v1/batches/${batch.id}`)).json,
    })
    const deliveries = async () => (await call('GET', `/v1/webhooks/${webhook.id}/deliveries`)).json
    await vi.waitUntil(async () => (await deliveries())[0]?.status === 'DELIVERED', WAIT)
    expect(await deliveries()).toMatchObject([{ id: `evt_batch_${batch.id}_1`, batchId: batch.id }])
    expect((await call('DELETE', `/v1/batches/${batch.id}`)).status).toBe(204)
    await vi.waitUntil(async () => (await deliveries()).length === 0, WAIT)
    expect(receiver.received).toHaveLength(1)
    await service.stop()
  })

  it('delivers after its runner was killed', async () => {
    const folder = newFolder()
    const service = await start(folder, SHORT_LEASE)
    const call = createLocalClient(service.url, folder)
    const receiver = await startReceiver({ holds: true })
    await createWebhook(call, receiver)
    const id = await run(call)
    await vi.waitUntil(() => receiver.ids().includes(id), WAIT)
    const [runner = 0] = await childrenOf(service.pid, 'runner.ts')
    receiver.answer()
    sendSignal(runner, 'SIGKILL')
    await vi.waitUntil(() => receiver.ids().filter((each) => each === id).length > 1, {
      ...WAIT,
      timeout: 90_000,
    })
    await service.stop()
  })

  it('starts no runner for synchronous runs without a destination', async () => {
    const folder = newFolder()
    const service = await start(folder, SHORT_LEASE)
    const call = createLocalClient(service.url, folder)
    await run(call)
    // Longer than some sweeps.
    await sleep(4_000)
    expect(await hasRunner(service)).toBe(false)
    await service.stop()
  })
})
