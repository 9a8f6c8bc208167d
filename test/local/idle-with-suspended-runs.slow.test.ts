import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Version } from '../../lib/core/agent.ts'
import { toItem } from '../../lib/dynamodb/executions/execution-item.ts'
import { executionStore } from '../../lib/dynamodb/executions/execution-store.ts'
import { openTable, type Table } from '../../lib/dynamodb/table/table.ts'
import { LOCAL_TABLE, provisionTable } from '../../local/emulators/provision.ts'
import type { Emulator } from '../../local/emulators/start-emulators.ts'
import { executionOf } from '../support/engine/executions.ts'
import { newOrganization, type TestOrganization } from '../support/engine/organization.ts'
import { socketInodes } from '../support/processes/listening-sockets.ts'
import { childrenOf } from '../support/processes/processes.ts'
import { type HttpProxy, startProxy } from '../support/proxy/start-proxy.ts'
import { createClient, waitForExecution } from '../support/service/client.ts'
import { startDynamoDB, startSqs } from '../support/service/port-emulators.ts'
import type { Service } from '../support/service/start-service.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'

const SUSPENDED = 10_000
const BATCH = 250
const DAY_MS = 86_400_000
/** A sweep every 2 s. */
const LEASE_SECONDS = '4'
const WINDOW_MS = 20_000
const MEMORY_SAMPLES = 10

const { newFolder, start } = temporaryServices()
const emulators: Emulator[] = []
let proxies: { dynamodb: HttpProxy; sqs: HttpProxy }
let table: Table
let own: TestOrganization
beforeAll(async () => {
  emulators.push(await startDynamoDB(null), await startSqs())
  const [dynamodb, sqs] = emulators as [Emulator, Emulator]
  proxies = { dynamodb: await startProxy(dynamodb.endpoint), sqs: await startProxy(sqs.endpoint) }
  await provisionTable(dynamodb.endpoint, LOCAL_TABLE)
  table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint })
  own = await newOrganization(table)
})
afterAll(async () => {
  for (const { stop } of [...Object.values(proxies), ...emulators]) await stop()
})

/** What an idle service holds and does: of its gateway and its runner. */
async function measure(service: Service) {
  const pids = [service.pid, ...(await childrenOf(service.pid, 'runner.ts'))]
  const requests = () => proxies.dynamodb.counts.requests + proxies.sqs.counts.requests
  const before = requests()
  const startedAt = performance.now()
  const rss: number[] = []
  for (let sample = 0; sample < MEMORY_SAMPLES; sample++) {
    await sleep(WINDOW_MS / MEMORY_SAMPLES)
    rss.push(pids.reduce((sum, pid) => sum + rssOf(pid), 0))
  }
  const minutes = (performance.now() - startedAt) / 60_000
  return {
    processes: pids.length,
    requestsPerMinute: (requests() - before) / minutes,
    threads: sumOf(pids, (pid) => readdirSync(`/proc/${pid}/task`).length),
    sockets: sumOf(pids, (pid) => socketInodes(pid).length),
    rss: rss.sort((a, b) => a - b)[MEMORY_SAMPLES / 2] ?? 0,
  }
}

const sumOf = (pids: number[], count: (pid: number) => number) =>
  pids.reduce((sum, pid) => sum + count(pid), 0)

/** In kB. */
const rssOf = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

/** Stores executions as their workers leave them, each due after a day. */
async function storeSuspended(version: Version, count: number): Promise<void> {
  const now = Date.now()
  const until = now + DAY_MS
  const at = new Date(now).toISOString()
  const wait = { name: 'ask', since: at, until: new Date(until).toISOString(), step: 1 }
  const kinds = ['approval', 'signal', 'sleep'] as const
  for (let done = 0; done < count; done += BATCH) {
    const items = await Promise.all(
      Array.from({ length: BATCH }, (_, i) => {
        const execution = executionOf(version, { input: { seconds: 0 }, now, deadlineMs: 2 * DAY_MS })
        const waits = [{ ...wait, kind: kinds[i % kinds.length] ?? 'sleep' }]
        const suspension = { at: now, until, waits }
        return toItem(table, { ...execution, attempts: 1, suspension, openUntil: until })
      }),
    )
    await table.writeMany(items.map((put) => ({ put })))
  }
}

it('needs for 10,000 suspended runs no more requests, threads, sockets and memory than for none', async () => {
  const version = await own.publish('waits')
  const { dynamodb, sqs } = proxies
  const environment = { DYNAMODB_ENDPOINT: dynamodb.url, SQS_ENDPOINT: sqs.url, LEASE_SECONDS }
  const service = await start(newFolder(), environment)
  const call = createClient(service.url, own.token)
  // Starts the runner, and its thread.
  const started = await call('POST', '/v1/agents/waits/executions?execMode=async', { body: {} })
  await waitForExecution(call, started.json.id)
  const idle = await measure(service)
  await storeSuspended(version, SUSPENDED)
  expect(await executionStore(table).countSuspended({ organizationId: own.id, max: 1 })).toBe(SUSPENDED)
  const loaded = await measure(service)
  console.log(JSON.stringify({ idle, loaded }))
  expect(loaded.processes).toBe(2)
  expect(loaded.threads).toBeLessThanOrEqual(idle.threads)
  // As many as the requests of a sweep that coincide: one for each hundredth run would be too many.
  expect(loaded.sockets - idle.sockets).toBeLessThan(SUSPENDED / 100)
  expect(loaded.requestsPerMinute / idle.requestsPerMinute).toBeLessThan(1.1)
  expect(loaded.rss / idle.rss).toBeLessThan(1.1)
  expect(await executionStore(table).countSuspended({ organizationId: own.id, max: 1 })).toBe(SUSPENDED)
})
