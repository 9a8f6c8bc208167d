import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Execution, failure, type Outcome } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { parseJson } from '../../../lib/core/json/parse-json.ts'
import { cleanUp } from '../../../lib/dynamodb/executions/cleanup.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import {
  agentShard,
  executionKey,
  LIST_SHARDS,
  STATUS_SHARDS,
  shardOf,
  stepKey,
} from '../../../lib/dynamodb/table/keys.ts'
import { INDEXES } from '../../../lib/dynamodb/table/schema.ts'
import { openTable } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { anExecution, leased } from '../../support/engine/executions.ts'
import { EMULATORS } from '../../support/tables/emulators.ts'
import { emulatedTable } from '../../support/tables/memory-table.ts'

const success = (output = { text: 'x' }): Outcome => ({
  status: 'SUCCESS',
  output,
  steps: 3,
  usage: { inputTokens: 5, outputTokens: 7 },
  model: 'a/b',
})
const NOW = 1_800_000_000_000
const at = '2027-01-15T08:00:00.000Z'
const leaseOf = (owner: string, expiresAt = NOW + 60_000) => ({ owner, expiresAt })
const lease = leaseOf('me')

describe.each(EMULATORS)('executionStore on %s', async (emulator) => {
  // A separate table: the sweeper of the shared service must not claim the executions that these tests leave open.
  const table = await emulatedTable(emulator)
  const store = executionStore(table)
  const created = async (overrides: Parameters<typeof anExecution>[0] = {}) => {
    const execution = anExecution(overrides)
    await store.create({ execution })
    return execution
  }
  const finish = (execution: Execution, owner = 'me', outcome: Outcome = success()) =>
    store.finish({ execution: leased(execution, owner), outcome, finishedAt: at })
  const finished = async () => {
    const execution = await created({ lease, input: { text: randomBytes(1_000_000).toString('base64') } })
    await finish(execution)
    return execution
  }
  const remove = (execution: Execution) => store.delete({ ...execution, now: Date.now() })
  const itemAt = (key: Parameters<typeof table.get>[0]) => table.get(key, { consistent: true })
  const list = (organizationId: string, agentId: string | null = null) => {
    const page = { organizationId, agentId, status: null, tenantId: null, limit: 10, after: null }
    return store.list(page)
  }

  describe('finish', () => {
    it('keeps the recorded progress when a resumed run ends without a step of its own', async () => {
      const execution = await created({ lease })
      const progress = { steps: 3, usage: { inputTokens: 5, outputTokens: 7 }, model: 'a/b' }
      await store.renew({ id: execution.id, lease, progress })
      const outcome = failure({ code: 'AttemptsExhausted', message: '' })
      expect(await finish(execution, 'me', outcome)).toMatchObject(progress)
      expect(await store.get(execution)).toMatchObject(progress)
    })

    it('stores a long error and many adaptations', async () => {
      const adaptation = { path: '/a', kind: 'renamed' as const, message: 'x'.repeat(100) }
      const inputAdaptations = Array.from({ length: 6_000 }, () => adaptation)
      const execution = await created({ lease, inputAdaptations })
      const details = { stack: 'y'.repeat(500_000), errors: Array(9_999).fill({ path: '/a', message: 'z' }) }
      const outcome = failure({ code: 'AgentFailed', message: 'x'.repeat(500_000), ...details })
      const ended = await finish(execution, 'me', outcome)
      expect(await store.get(execution)).toEqual(ended)
      const error = { code: 'AgentFailed', message: expect.stringMatching(/^x{8000}…/) }
      expect(ended).toMatchObject({ inputAdaptations, error })
    })

    it('keeps the large output of the lease owner when a worker without a lease finishes too', async () => {
      const text = (seed: string) => `${seed}${randomBytes(600_000).toString('base64')}`
      const [late, current] = [text('late'), text('current')]
      const execution = await created({ lease: leaseOf('first', NOW - 1) })
      const claimed = await store.claim({ id: execution.id, lease: leaseOf('second'), now: NOW })
      if (typeof claimed === 'string') throw new Error(claimed)
      await finish(claimed, 'second', success({ text: current }))
      await finish(execution, 'first', success({ text: late }))
      expect((await store.get(execution))?.output?.text === current).toBe(true)
    })

    it('keeps any judgement unchanged', async () => {
      const values = { original: fc.jsonValue(), trial: fc.jsonValue() }
      const difference = fc.record({ path: fc.string({ unit: 'binary' }), ...values })
      const property = fc.asyncProperty(fc.array(difference, { maxLength: 20 }), async (differences) => {
        const execution = await created({ lease })
        // As they are stored: -0 is 0.
        const judgement = JSON.parse(JSON.stringify({ verdict: 'CHANGED', differences, isCut: true }))
        const ended = await finish(execution, 'me', { ...success(), judgement })
        expect(ended?.judgement).toEqual(judgement)
        expect((await store.getSummary(execution))?.judgement).toEqual(judgement)
      })
      await fc.assert(property, { numRuns: propertyRuns(50) })
    })
  })

  describe('get', () => {
    it('returns the created execution, and null for another organization', async () => {
      const execution = await created({ tenantId: 'acme', lease })
      expect(await store.get(execution)).toEqual(execution)
      expect(await store.get({ ...execution, organizationId: system.newId() })).toBeNull()
    })

    it('throws Unavailable when the database does not respond', async () => {
      const unreachable = openTable({ TABLE_NAME: 'any', DYNAMODB_ENDPOINT: 'http://127.0.0.1:1' })
      const reading = executionStore(unreachable).get({ organizationId: 'a', id: 'b' })
      await expect(reading).rejects.toMatchObject({ code: 'Unavailable', status: 503 })
    })
  })

  it('countOpen counts the open executions of an organization, and estimates far below the limit', async () => {
    const organizationId = system.newId()
    const executions = await Promise.all(Array.from({ length: 40 }, () => created({ organizationId })))
    for (const execution of executions.slice(0, 8))
      await store.end({ ...execution, error: CANCELLED, finishedAt: at })
    for (const max of [0, 3, 40]) expect(await store.countOpen({ organizationId, max })).toBe(32)
    const estimate = await store.countOpen({ organizationId, max: 100_000 })
    expect(estimate % STATUS_SHARDS).toBe(0)
    expect(estimate).toBeLessThanOrEqual(32 * STATUS_SHARDS)
    expect(await store.countOpen({ organizationId: system.newId(), max: 100_000 })).toBe(0)
  })

  describe('create', () => {
    it('does not change an existing execution', async () => {
      const execution = await created({ lease })
      const ended = await finish(execution)
      await store.create({ execution })
      expect(await store.get(execution)).toEqual(ended)
    })

    it('keeps any JSON object unchanged', async () => {
      const property = fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (value) => {
        // As the API parses it: a number that a double cannot hold is an exact number.
        const input = parseJson(JSON.stringify(value)) as JsonObject
        const execution = await created({ input })
        expect((await store.get(execution))?.input).toEqual(input)
      })
      await fc.assert(property, { numRuns: propertyRuns(50) })
    })
  })

  it('end ends an open execution of the organization, with unleasedAt only if no lease is live', async () => {
    const { id, organizationId } = await created({ lease })
    const end = { organizationId, id, error: CANCELLED, finishedAt: at }
    expect(await store.end({ ...end, organizationId: system.newId() })).toBeNull()
    expect(await store.end({ ...end, unleasedAt: NOW })).toBeNull()
    const ended = { status: 'ERROR', error: CANCELLED, finishedAt: at, lease: null }
    expect(await store.end(end)).toMatchObject(ended)
  })

  it('listStale returns open executions past their lease, oldest first, and postpone succeeds once', async () => {
    const of = (owner: string, now: number) => ({ lease: leaseOf(owner, now + 1_000), now, graceMs: 1_000 })
    const [old, older] = [await created(of('a', 1_000)), await created({ ...of('b', 0), sharesWorker: true })]
    await created({ lease: leaseOf('c', NOW) })
    await finish(await created(of('d', 500)), 'd', failure(CANCELLED))
    const listStale = () => store.listStale({ now: 3_000, limit: 1_000 })
    const [stale, ...others] = await listStale()
    if (!stale) throw new Error('not listed')
    expect([stale, ...others].map(({ id }) => id)).toEqual([older.id, old.id])
    const attempts = { attempts: 1, attemptsSinceProgress: 1, sharesWorker: true }
    expect(await store.postpone({ stale, until: NOW, now: 3_000 })).toEqual(attempts)
    expect(await store.postpone({ stale, until: NOW, now: 3_000 })).toBeNull()
    expect((await listStale()).map(({ id }) => id)).toEqual([old.id])
  })

  describe('delete', () => {
    it('removes a final execution with its chunks, and returns why it did not delete', async () => {
      expect(await remove(await created({ lease }))).toBe('open')
      const execution = await finished()
      expect(await remove({ ...execution, organizationId: system.newId() })).toBe('missing')
      expect([await remove(execution), await remove(execution)]).toEqual(['deleted', 'missing'])
      expect(await store.get(execution)).toBeNull()
      expect(await list(execution.organizationId)).toEqual({ items: [], next: null })
    })

    it('hides the execution from its first write on, and can be repeated after a crash', async () => {
      const execution = await finished()
      const crash = new Error('crashed')
      const crashing = executionStore({ ...table, query: () => Promise.reject(crash) })
      await expect(crashing.delete({ ...execution, now: Date.now() })).rejects.toBe(crash)
      expect(await store.get(execution)).toBeNull()
      const { organizationId, agentId } = execution
      for (const id of [null, agentId]) expect((await list(organizationId, id)).items).toEqual([])
      const { items } = await table.query({
        IndexName: 'executions-of-agent',
        KeyConditionExpression: 'agentShard = :shard',
        ExpressionAttributeValues: { ':shard': agentShard(agentId, shardOf(execution.id, LIST_SHARDS)) },
      })
      expect(items).toEqual([])
      expect(await remove(execution)).toBe('deleted')
      expect(await itemAt(executionKey(execution.id))).toMatchObject({ purged: true })
    })

    it('keeps its mark for another check when a late worker has written something since the last one', async () => {
      const execution = await finished()
      await remove(execution)
      const key = executionKey(execution.id)
      const readMark = () => itemAt(key)
      const accounting = { end: store.end, isCounted: async () => true }
      const check = async () => {
        const dueAt = Number((await readMark())?.openUntil)
        await cleanUp(table, { executionId: execution.id, item: key.sk, dueAt }, dueAt, accounting)
      }
      await table.put({ ...stepKey(execution.id, 1), data: 'late' })
      await check()
      expect(await readMark()).toMatchObject({ deleted: true, purged: true })
      expect(await itemAt(stepKey(execution.id, 1))).toBeFalsy()
      await check()
      expect(await readMark()).toBeFalsy()
    })
  })
})

it('the indexes project no payload', () => {
  const payloads = ['input', 'output', 'error', 'data']
  for (const { projection } of Object.values(INDEXES))
    expect(projection.filter((name) => payloads.includes(name))).toEqual([])
})
