import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openTable, type Table } from '../../lib/dynamodb/table/table.ts'
import { system } from '../../lib/system.ts'
import { LOCAL_TABLE, provisionTable } from '../../local/emulators/provision.ts'
import type { Emulator } from '../../local/emulators/start-emulators.ts'
import { newOrganization } from '../support/engine/organization.ts'
import { childrenOf } from '../support/processes/processes.ts'
import { type ApiClient, createClient, waitForExecution } from '../support/service/client.ts'
import { startDynamoDB } from '../support/service/port-emulators.ts'
import { type Service, startService } from '../support/service/start-service.ts'

const LEASE_MS = 3_000
const RUN = '/v1/agents/slow-first-attempt/executions'
const folder = mkdtempSync(join(tmpdir(), 'aes-recovery-'))
// A table of its own: the sweeper of the shared service would send this file's stale runs to its own queue.
let dynamodb: Emulator
let table: Table

beforeAll(async () => {
  dynamodb = await startDynamoDB(null)
  await provisionTable(dynamodb.endpoint, LOCAL_TABLE)
  table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint })
})
afterAll(async () => {
  await dynamodb.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A separate service with its own queue and processes and a short lease. */
async function withService(
  use: (service: Service, call: ApiClient) => Promise<void>,
  environment: Record<string, string> = {},
): Promise<void> {
  const own = await newOrganization(table)
  await own.publish('slow-first-attempt')
  await own.publish('wait')
  const service = await startService({
    dataDir: mkdtempSync(join(folder, 'data-')),
    environment: {
      DYNAMODB_ENDPOINT: dynamodb.endpoint,
      LEASE_SECONDS: String(LEASE_MS / 1000),
      ...environment,
    },
  })
  try {
    await use(service, createClient(service.url, own.token))
  } finally {
    await service.kill()
  }
}

const started = (log: string) => vi.waitUntil(() => existsSync(log))
const newLog = () => join(folder, system.newId())

describe('a run whose process is killed', () => {
  it('is resumed by the sweeper if the runner was killed', async () => {
    await withService(async (service, call) => {
      const log = newLog()
      const { json } = await call('POST', `${RUN}?execMode=async`, { body: { log, ms: 600_000 } })
      await started(log)
      const [runner = 0] = await childrenOf(service.pid, 'runner.ts')
      process.kill(runner, 'SIGKILL')
      const record = await waitForExecution(call, json.id, 60_000)
      expect(record).toMatchObject({ status: 'SUCCESS', output: { attempts: 2 } })
    })
  })

  it('is re-enqueued by the sweeper if the gateway was killed during a synchronous run', async () => {
    const own = await newOrganization(table)
    await own.publish('slow-first-attempt')
    const log = newLog()
    await withService(async (service) => {
      const call = createClient(service.url, own.token)
      const answer = call('POST', RUN, { body: { log, ms: 600_000 } }).catch(() => 'cut')
      await started(log)
      await service.kill()
      expect(await answer).toBe('cut')
    })
    await withService(async (service) => {
      const call = createClient(service.url, own.token)
      const [record] = (await call('GET', '/v1/agent_executions')).json
      // The sweeper of a service of another test, which has ended since, may have postponed it.
      expect(await waitForExecution(call, record.id, 60_000)).toMatchObject({
        status: 'SUCCESS',
        output: { attempts: 2 },
      })
    })
  })
})
