import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { resolveVersion } from '../../../lib/agents/resolve-version.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import type { RunQueue } from '../../../lib/core/ports/queues.ts'
import { idempotencyStore } from '../../../lib/dynamodb/cache-stores.ts'
import { openTable, type Table } from '../../../lib/dynamodb/table/table.ts'
import { submitAsync } from '../../../lib/engine/submit/accept.ts'
import type { RunOverrides } from '../../../lib/engine/submit/check-request.ts'
import { buildRunRequest } from '../../../lib/engine/submit/run-request.ts'
import { submitSync } from '../../../lib/engine/submit/submit.ts'
import { processMessage } from '../../../lib/engine/worker/process-message.ts'
import { admission } from '../../../lib/limits/admission.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import { engineOn } from '../../support/engine/engine-on.ts'
import { newOrganization, type TestOrganization } from '../../support/engine/organization.ts'
import { meterCapacity } from '../../support/proxy/observe.ts'
import { type HttpProxy, startProxy } from '../../support/proxy/start-proxy.ts'

let own: TestOrganization
const meter = meterCapacity()
let proxy: HttpProxy
let table: Table

beforeAll(async () => {
  own = await newOrganization()
  await own.publish('echo')
  await own.publish('keyed')
  proxy = await startProxy(inject('dynamodb'), meter.behavior)
  table = openTable({ TABLE_NAME: LOCAL_TABLE, DYNAMODB_ENDPOINT: proxy.url })
  // An agent's code is loaded once per process, and open executions are counted once in many runs.
  await run('echo', { text: 'warm' })
})
afterAll(() => proxy.stop())

const sent: string[] = []
const queue: RunQueue = { send: async ({ executionId }) => void sent.push(executionId) }

/** Kept between runs, as a warm function does. */
const engineFor = (on: Table) => {
  const engine = engineOn(on)
  const { executions } = engine
  const admit = admission({ executions, system }, 1_000)
  return { ...engine, idempotency: idempotencyStore(on), queue, admit, syncDeadlineMs: 60_000 }
}
let warmEngine: ReturnType<typeof engineFor> | undefined

async function requestOf(slug: string, input: JsonObject, overrides: RunOverrides = {}) {
  warmEngine ??= engineFor(table)
  const engine = warmEngine
  const of = { organizationId: own.id, idOrSlug: slug, versionId: undefined, run: null }
  const { version } = await resolveVersion({ store: engine.agents, ...of })
  return { engine, request: await buildRunRequest(version, input, overrides) }
}

async function run(slug: string, input: JsonObject, overrides?: RunOverrides) {
  const { engine, request } = await requestOf(slug, input, overrides)
  return (await submitSync(engine, request)).execution
}

/** The requests and capacity units of some work, as reported by the emulator. */
async function costOf<T>(work: () => Promise<T>) {
  meter.take()
  const result = await work()
  const { writtenBytes: _, ...cost } = meter.take()
  return { result, cost }
}

/**
 * The cost of work in a warm process, which has read the agent's current version within the last second. Measured
 * again if the machine was too slow for that.
 */
const expectWarmCost = (warmUp: () => Promise<unknown>, work: () => Promise<unknown>, expected: object) =>
  vi.waitFor(
    async () => {
      await warmUp()
      expect((await costOf(work)).cost).toEqual(expected)
    },
    { timeout: 20_000, interval: 10 },
  )

describe('a warm sync run', () => {
  it('costs two writes', async () => {
    const plain = () => run('echo', { text: 'plain' })
    expect(await plain()).toMatchObject({ status: 'SUCCESS', cached: false })
    // The record enters three indexes, and at its end leaves one for that of usage.
    const requests = { PutItem: 1, UpdateItem: 1 }
    await expectWarmCost(plain, plain, { requests, readUnits: 0, writeUnits: 7 })
  })

  it('costs one request, and two write units for each key, only where the agent declares keys', async () => {
    // One key of its input, and one of its output.
    const keyed = () => run('keyed', { orderId: 'O-1300' })
    expect((await keyed()).keys).toHaveLength(2)
    const requests = { BatchWriteItem: 2, PutItem: 1, UpdateItem: 1 }
    await expectWarmCost(keyed, keyed, { requests, readUnits: 0, writeUnits: 7 + 2 * 2 })
  })

  it('reads the current version again after a second', async () => {
    const read = { GetItem: 1, PutItem: 1, UpdateItem: 1 }
    await vi.waitFor(async () =>
      expect((await costOf(() => run('echo', { text: 'plain' }))).cost.requests).toEqual(read),
    )
  })

  it('with the cache costs one read and two writes more on a miss, and one read and one write on a hit', async () => {
    const warmUp = () => run('echo', { text: 'plain' })
    let input = { text: '' }
    const cached = () => run('echo', input, { useCache: true })
    const miss = () => {
      input = { text: system.newId() }
      return cached()
    }
    const ofMiss = { GetItem: 1, PutItem: 3, UpdateItem: 1 }
    await expectWarmCost(warmUp, miss, { requests: ofMiss, readUnits: 1, writeUnits: 9 })
    expect(await cached()).toMatchObject({ cached: true })
    const ofHit = { GetItem: 1, PutItem: 1 }
    await expectWarmCost(warmUp, cached, { requests: ofHit, readUnits: 1, writeUnits: 4 })
  })
})

describe('a warm async run', () => {
  const accept = async (text: string) => {
    const { engine, request } = await requestOf('echo', { text })
    return submitAsync(engine, request)
  }
  const message = { queue, changeVisibility: async () => undefined, receiveCount: 1 }

  it('costs one write to accept, and two writes to run', async () => {
    const runner = engineOn(table)
    await processMessage(runner, (await accept('warm')).id, { message })
    const later = () => accept('later')
    await expectWarmCost(later, later, { requests: { PutItem: 1 }, readUnits: 0, writeUnits: 4 })
    const accepted = await later()
    expect(sent.at(-1)).toBe(accepted.id)
    const worked = await costOf(() => processMessage(runner, accepted.id, { message }))
    expect(worked.result).toBe('processed')
    expect(worked.cost).toEqual({ requests: { UpdateItem: 2 }, readUnits: 0, writeUnits: 4 })
  })
})
