import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openTable, type Table } from '../../lib/dynamodb/table/table.ts'
import { system } from '../../lib/system.ts'
import { LOCAL_TABLE, provisionTable } from '../../local/emulators/provision.ts'
import type { Emulator } from '../../local/emulators/start-emulators.ts'
import { readLocalSettings } from '../../local/settings.ts'
import { aModelAgent } from '../support/engine/model-agent.ts'
import { newOrganization } from '../support/engine/organization.ts'
import { childrenOf } from '../support/processes/processes.ts'
import { type ScriptedModel, startScriptedModel } from '../support/scripted-model/start-scripted-model.ts'
import { type ApiClient, createClient, waitForExecution } from '../support/service/client.ts'
import { startDynamoDB } from '../support/service/port-emulators.ts'
import { type Service, startService } from '../support/service/start-service.ts'

const LEASE_MS = 6_000
const RUN = '/v1/agents/slow-first-attempt/executions'
const folder = mkdtempSync(join(tmpdir(), 'aes-recovery-'))
let scripted: ScriptedModel
// A table of its own: the sweeper of the shared service would send this file's stale runs to its own queue.
let dynamodb: Emulator
let table: Table

beforeAll(async () => {
  scripted = await startScriptedModel()
  dynamodb = await startDynamoDB(null)
  await provisionTable(dynamodb.endpoint, LOCAL_TABLE)
  table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: dynamodb.endpoint })
})
afterAll(async () => {
  await dynamodb.stop()
  await scripted.stop()
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
  await aModelAgent({ organizationId: own.id, slug: 'model-agent' }, { table })
  const service = await startService({
    dataDir: mkdtempSync(join(folder, 'data-')),
    environment: {
      DYNAMODB_ENDPOINT: dynamodb.endpoint,
      LEASE_SECONDS: String(LEASE_MS / 1000),
      ...(scripted.environmentFor('openai-compatible') as Record<string, string>),
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

describe.concurrent('a run whose process is killed', () => {
  it('is resumed when the default lease has expired if the runner was killed', async () => {
    await withService(
      async (service, call) => {
        const log = newLog()
        const { json } = await call('POST', `${RUN}?execMode=async`, { body: { log, ms: 600_000 } })
        await started(log)
        const [runner = 0] = await childrenOf(service.pid, 'runner.ts')
        process.kill(runner, 'SIGKILL')
        const killedAt = Date.now()
        const record = await waitForExecution(call, json.id, 40_000)
        expect(record).toMatchObject({ status: 'SUCCESS', output: { attempts: 2 } })
        // A runner that dies before its message is hidden for longer leaves the run to the sweeper, which comes twice
        // in a lease. What takes processor time is compared with a run on the new runner.
        const queued = await call('POST', '/v1/agents/wait/executions?execMode=async', {
          body: { seconds: 0 },
        })
        const other = await waitForExecution(call, queued.json.id)
        const otherMs = Date.parse(other.finishedAt) - Date.parse(other.createdAt)
        const { graceMs, leaseMs } = readLocalSettings({}).times
        const maxMs = graceMs + leaseMs / 2 + 10 * otherMs
        expect(Date.parse(record.finishedAt) - killedAt).toBeLessThan(maxMs)
      },
      { LEASE_SECONDS: '' },
    )
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
      expect(await waitForExecution(call, record.id, 12 * LEASE_MS)).toMatchObject({
        status: 'SUCCESS',
        output: { attempts: 2 },
      })
    })
  })
})

describe('a synchronous run', () => {
  it('that exceeds the deadline is 504, and continues as if it were asynchronous', async () => {
    await withService(
      async (_, call) => {
        const log = newLog()
        const { status, json, headers } = await call('POST', RUN, { body: { log, ms: 600_000 } })
        expect([status, json.code]).toEqual([504, 'ExecutionStillRunning'])
        expect(headers.get('location')).toBe(`/v1/agent_executions/${json.executionId}`)
        expect(headers.get('retry-after')).toBe('1')
        expect(await waitForExecution(call, json.executionId)).toMatchObject({
          status: 'SUCCESS',
          output: { attempts: 2 },
        })
      },
      { SYNC_DEADLINE_SECONDS: '1' },
    )
  })
})

describe('a model that is unavailable', () => {
  it('ends an asynchronous run in ERROR with the error of its last attempt', async () => {
    await withService(
      async (_, call) => {
        const name = system.newId()
        scripted.script(name, () => ({ status: 503, message: 'Overloaded.' }))
        const query = `execMode=async&model=${scripted.modelFor('openai-compatible', name)}`
        const path = `/v1/agents/model-agent/executions?${query}`
        const { json } = await call('POST', path, { body: { question: 'Why?' } })
        const { status, error } = await waitForExecution(call, json.id, 60_000)
        expect([status, error.code]).toEqual(['ERROR', 'ModelUnavailable'])
        expect(error.message).toContain('Overloaded.')
        // Four attempts in each of five deliveries.
        expect(scripted.requests(name)).toHaveLength(20)
      },
      { RETRY_BACKOFF_MS: '80' },
    )
  })
})

describe('the limit of open executions', () => {
  const start = (call: ApiClient) =>
    call('POST', '/v1/agents/wait/executions?execMode=async', { body: { seconds: 600 } })

  it('is enforced with 429, after a crash too, until executions have ended', async () => {
    const own = await newOrganization(table)
    await own.publish('wait')
    const environment = { MAX_OPEN_EXECUTIONS: '3', LEASE_SECONDS: '60' }
    let ids: string[] = []
    await withService(async (service) => {
      const call = createClient(service.url, own.token)
      const answers = await Promise.all(Array.from({ length: 20 }, () => start(call)))
      const rejected = answers.filter(({ status }) => status === 429)
      ids = answers.filter(({ status }) => status === 202).map(({ json }) => json.id)
      expect([ids.length, rejected.length]).toEqual([3, 17])
      expect(rejected[0]?.json.code).toBe('TooManyRequests')
      expect(Number(rejected[0]?.headers.get('retry-after'))).toBeGreaterThan(0)
    }, environment)
    await withService(async (service) => {
      const call = createClient(service.url, own.token)
      const sync = await call('POST', '/v1/agents/wait/executions', { body: { seconds: 0 } })
      expect(sync.status).toBe(429)
      await call('POST', `/v1/agent_executions/${ids[0]}/cancel`)
      await vi.waitUntil(async () => (await start(call)).status === 202)
      expect((await start(call)).status).toBe(429)
    }, environment)
  })
})
