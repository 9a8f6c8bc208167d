import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, it, onTestFinished } from 'vitest'
import { waitUntil } from '../support/processes/processes.ts'
import { delay, inject as injectFault } from '../support/proxy/faults.ts'
import { startProxy } from '../support/proxy/start-proxy.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const { newFolder, start } = temporaryServices()

it('sweeps one after the other, however slow the table is', async () => {
  const proxy = await startProxy(inject('dynamodb'))
  // A sweep every 500 ms.
  const service = await start(newFolder(), { DYNAMODB_ENDPOINT: proxy.url, LEASE_SECONDS: '1' })
  onTestFinished(async () => {
    await service.kill()
    await proxy.stop()
  })
  let queries = 0
  let overlaps = 0
  const open = new Set<string>()
  const slowSweeps = injectFault(({ operation, body }) => {
    const { IndexName, ExpressionAttributeValues } = JSON.parse(String(body))
    if (operation !== 'Query' || IndexName !== 'open-executions') return null
    const shard = ExpressionAttributeValues[':shard'].S
    queries++
    if (open.has(shard)) overlaps++
    open.add(shard)
    // Longer than the time between two sweeps, and far below the timeout of a request.
    const delayMs = 700
    void sleep(delayMs).then(() => open.delete(shard))
    return delay(delayMs)
  })
  proxy.use(slowSweeps)
  await waitUntil(() => queries >= 33, { what: 'queries of the sweeper', limitMs: 60_000 })
  expect(overlaps).toBe(0)
})
