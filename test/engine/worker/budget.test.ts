import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { resolveVersion } from '../../../lib/agents/resolve-agent.ts'
import type { JsonObject } from '../../../lib/core/json.ts'
import type { RunQueue } from '../../../lib/core/ports.ts'
import { idempotencyStore } from '../../../lib/dynamodb/idempotency-store.ts'
import { openTable, type Table } from '../../../lib/dynamodb/table.ts'
import { admission } from '../../../lib/engine/submit/admission.ts'
import { buildRunRequest, type RunOverrides } from '../../../lib/engine/submit/run-request.ts'
import { submitAsync, submitSync } from '../../../lib/engine/submit/submit.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../local/open-store.ts'
import { engineOn } from '../../support/engine.ts'
import { type Meter, type Spent, startMeter } from '../../support/meter.ts'
import { newOrganization, type TestOrganization } from '../../support/organization.ts'

const folder = mkdtempSync(join(tmpdir(), 'aes-budget-'))
let own: TestOrganization
let meter: Meter
let table: Table

beforeAll(async () => {
  own = await newOrganization()
  await Promise.all([own.publish('echo'), own.publish('counted')])
  meter = await startMeter({ target: inject('dynamodb') })
  table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: meter.url })
  // Agents' code is loaded once a process; the cap is counted once in many runs.
  await run('echo', { text: 'warm' })
  await run('counted', { log: join(folder, 'warm') })
})
afterAll(async () => {
  await meter.stop()
  rmSync(folder, { recursive: true })
})

const sent: string[] = []
const queue: RunQueue = { send: async ({ executionId }) => void sent.push(executionId) }

/** What accepts runs, kept as a function's process keeps it. */
const intakeOn = (on: Table) => {
  const engine = engineOn(on)
  const { executions } = engine
  const admit = admission({ executions, system }, 1_000)
  return { ...engine, idempotency: idempotencyStore(on), queue, admit, syncDeadlineMs: 60_000 }
}
let intake: ReturnType<typeof intakeOn> | undefined

async function requestOf(slug: string, input: JsonObject, overrides: RunOverrides = {}) {
  intake ??= intakeOn(table)
  const { agents: store } = intake
  const version = await resolveVersion({
    store,
    organizationId: own.id,
    idOrSlug: slug,
    versionId: undefined,
  })
  return { intake, request: buildRunRequest(version, input, overrides) }
}

async function run(slug: string, input: JsonObject, overrides?: RunOverrides) {
  const { intake, request } = await requestOf(slug, input, overrides)
  return submitSync(intake, request)
}

/** What is spent while something is done; units are those of the emulator, whose counts are DynamoDB's. */
async function costOf<T>(work: () => Promise<T>): Promise<{ result: T; cost: Omit<Spent, 'writtenBytes'> }> {
  meter.take()
  const result = await work()
  const { writtenBytes: _, ...cost } = meter.take()
  return { result, cost }
}

describe('a sync run', () => {
  it('costs one read and two writes', async () => {
    const { result, cost } = await costOf(() => run('echo', { text: 'plain' }))
    expect(result).toMatchObject({ status: 'SUCCESS', cached: false })
    // A record enters four indexes and at its end leaves two and changes in two.
    expect(cost).toEqual({
      requests: { GetItem: 1, PutItem: 1, UpdateItem: 1 },
      readUnits: 1,
      writeUnits: 10,
    })
  })

  it('has made one read and one write when its agent starts', async () => {
    const log = join(folder, 'started')
    meter.take()
    const { intake, request } = await requestOf('counted', { log, ms: 300 })
    const running = submitSync(intake, request)
    await expect.poll(() => existsSync(log), { interval: 2 }).toBe(true)
    expect(meter.take().requests).toEqual({ GetItem: 1, PutItem: 1 })
    expect(await running).toMatchObject({ status: 'SUCCESS' })
    expect(meter.take().requests).toEqual({ UpdateItem: 1 })
  })

  it('that is a hit costs two reads and one write; the miss before it one read and two writes more than without', async () => {
    const input = { text: system.newId() }
    const miss = await costOf(() => run('echo', input, { useCache: true }))
    expect(miss.cost).toEqual({
      requests: { GetItem: 2, PutItem: 3, UpdateItem: 1 },
      readUnits: 2,
      writeUnits: 12,
    })
    const hit = await costOf(() => run('echo', input, { useCache: true }))
    expect(hit.result).toMatchObject({ cached: true, cachedExecutionId: miss.result.id })
    expect(hit.cost).toEqual({ requests: { GetItem: 2, PutItem: 1 }, readUnits: 2, writeUnits: 3 })
  })
})

describe('an async run', () => {
  const accept = async (text: string) => {
    const { intake, request } = await requestOf('echo', { text })
    return submitAsync(intake, request)
  }
  const message = { queue, changeVisibility: async () => undefined, receiveCount: 1 }

  it('costs one read and one write to accept, and two writes to run', async () => {
    const runner = engineOn(table)
    await processMessage(runner, (await accept('warm')).id, { message })
    const accepted = await costOf(() => accept('later'))
    expect(accepted.cost).toEqual({ requests: { GetItem: 1, PutItem: 1 }, readUnits: 1, writeUnits: 5 })
    expect(sent.at(-1)).toBe(accepted.result.id)
    const worked = await costOf(() => processMessage(runner, accepted.result.id, { message }))
    expect(worked.result).toBe('processed')
    expect(worked.cost).toEqual({ requests: { UpdateItem: 2 }, readUnits: 0, writeUnits: 8 })
  })
})
