import { describe, expect, it, vi } from 'vitest'
import { childrenOf, isAlive } from '../support/processes/processes.ts'
import { createLocalClient, waitForExecution } from '../support/service/client.ts'
import type { Service } from '../support/service/start-service.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const { newFolder, start } = temporaryServices()

/** The process of its runner, which starts when a run is queued. */
async function runnerOf(service: Service, folder: string): Promise<number> {
  const call = createLocalClient(service.url, folder)
  const { json } = await call('POST', '/v1/agents/wait/executions?execMode=async', { body: { seconds: 0 } })
  await waitForExecution(call, json.id)
  const [runner = 0] = await childrenOf(service.pid, 'runner.ts')
  expect(runner).toBeGreaterThan(0)
  return runner
}

describe('the processes of npm start', () => {
  it('keeps the executions that it has responded with when it is killed', async () => {
    const folder = newFolder()
    const first = await start(folder)
    const call = createLocalClient(first.url, folder)
    const done = await call('POST', '/v1/agents/wait/executions', { body: { seconds: 0 } })
    await first.kill()

    const second = await start(folder)
    const again = createLocalClient(second.url, folder)
    expect((await again('GET', done.headers.get('location') ?? '')).json.status).toBe('SUCCESS')
    await second.stop()
  })

  it('leaves no child process running when it is killed', async () => {
    const folder = newFolder()
    const service = await start(folder)
    const runners = [await runnerOf(service, folder)]
    const shells = await childrenOf(service.pid, 'dynoxide')
    const databases = (await Promise.all(shells.map((pid) => childrenOf(pid, 'dynoxide')))).flat()
    expect(shells).toHaveLength(1)
    await service.kill()
    await vi.waitUntil(() => ![...runners, ...shells, ...databases].some(isAlive))
  })

  it('starts its runner when the first run is enqueued', async () => {
    const folder = newFolder()
    const service = await start(folder)
    const call = createLocalClient(service.url, folder)
    expect((await call('POST', '/v1/agents/wait/executions', { body: { seconds: 0 } })).status).toBe(200)
    expect(await childrenOf(service.pid, 'runner.ts')).toEqual([])
    const { json } = await call('POST', '/v1/agents/wait/executions?execMode=async', { body: { seconds: 0 } })
    expect(await waitForExecution(call, json.id)).toMatchObject({ status: 'SUCCESS' })
    expect(await childrenOf(service.pid, 'runner.ts')).toHaveLength(1)
    await service.stop()
  })

  it('restarts its runner when it is killed', async () => {
    const folder = newFolder()
    // SQS may deliver a message to the long poll of the dead runner; it becomes visible again after the lease.
    const service = await start(folder, { LEASE_SECONDS: '3' })
    const call = createLocalClient(service.url, folder)
    const runner = await runnerOf(service, folder)
    process.kill(runner, 'SIGKILL')
    expect((await call('POST', '/v1/agents/wait/executions', { body: { seconds: 0 } })).status).toBe(200)
    await vi.waitUntil(async () => (await childrenOf(service.pid, 'runner.ts')).some((pid) => pid !== runner))
    const { json } = await call('POST', '/v1/agents/wait/executions?execMode=async', { body: { seconds: 0 } })
    expect(await waitForExecution(call, json.id)).toMatchObject({ status: 'SUCCESS' })
    await service.stop()
  })
})
