import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, inject, it } from 'vitest'
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
import { provisionTable } from '../../../local/emulators/provision.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { anExecution, leased } from '../../support/engine/executions.ts'
import { EMULATORS, tableOn } from '../../support/tables/emulators.ts'

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

describe.each(EMULATORS)('executionStore on %s', (emulator) => {
  // A separate table: the sweeper of the shared service must not claim the executions that these tests leave open.
  const name = `contract-${system.newId()}`
  beforeAll(() => provisionTable(inject(emulator), name))
  const table = tableOn(emulator, name)
  const store = executionStore(table)
  const created = async (overrides: Parameters<typeof anExecution>[0] = {}) => {
    const execution = anExecution(overrides)
    await store.create({ execution })
    return execution
  }
  const finish = (execution: Execution, owner = 'me', outcome: Outcome = success()) =>
    store.finish({ execution: leased(execution, owner), outcome, finishedAt: at })

  describe('finish', () => {
    it('keeps the recorded progress when a resumed run ends without a step of its own', async () => {
      const execution = await created({ lease: leaseOf('me') })
      const progress = { steps: 3, usage: { inputTokens: 5, outputTokens: 7 }, model: 'a/b' }
      await store.renew({ id: execution.id, lease: leaseOf('me'), progress })
      const outcome = failure({ code: 'AttemptsExhausted', message: '' })
      const finished = await store.finish({ execution: leased(execution, 'me'), outcome, finishedAt: at })
      expect(finished).toMatchObject(progress)
      expect(await store.get(execution)).toMatchObject(progress)
    })

    it('stores a long error and many adaptations', async () => {
      const adaptation = { path: '/a', kind: 'renamed' as const, message: 'x'.repeat(100) }
      const inputAdaptations = Array.from({ length: 6_000 }, () => adaptation)
      const execution = await created({ lease: leaseOf('me'), inputAdaptations })
      const details = { stack: 'y'.repeat(500_000), errors: Array(9_999).fill({ path: '/a', message: 'z' }) }
      const outcome = failure({ code: 'AgentFailed', message: 'x'.repeat(500_000), ...details })
      const finished = await store.finish({ execution: leased(execution, 'me'), outcome, finishedAt: at })
      expect(await store.get(execution)).toEqual(finished)
      expect(finished?.inputAdaptations).toEqual(inputAdaptations)
      expect(finished?.error).toMatchObject({
        code: 'AgentFailed',
        message: expect.stringMatching(/^x{8000}…/),
      })
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
  })

  describe('get', () => {
    it('returns the created execution', async () => {
      const execution = await created({ tenantId: 'acme', lease: leaseOf('me') })
      expect(await store.get(execution)).toEqual(execution)
    })

    it('returns null for another organization', async () => {
      const { id } = await created()
      expect(await store.get({ id, organizationId: system.newId() })).toBeNull()
    })

    it('throws Unavailable when the database does not respond', async () => {
      const unreachable = executionStore(
        openTable({ TABLE_NAME: name, DYNAMODB_ENDPOINT: 'http://127.0.0.1:1' }),
      )
      await expect(unreachable.get({ organizationId: 'a', id: 'b' })).rejects.toMatchObject({
        code: 'Unavailable',
        status: 503,
      })
    })
  })

  describe('countOpen', () => {
    it('counts the open executions of an organization, and estimates far below the limit', async () => {
      const organizationId = system.newId()
      const executions = await Promise.all(Array.from({ length: 40 }, () => created({ organizationId })))
      await Promise.all(
        executions
          .slice(0, 8)
          .map(({ id }) => store.end({ organizationId, id, error: CANCELLED, finishedAt: at })),
      )
      for (const max of [0, 3, 40]) expect(await store.countOpen({ organizationId, max })).toBe(32)
      const estimate = await store.countOpen({ organizationId, max: 100_000 })
      expect(estimate % STATUS_SHARDS).toBe(0)
      expect(estimate).toBeLessThanOrEqual(32 * STATUS_SHARDS)
      expect(await store.countOpen({ organizationId: system.newId(), max: 100_000 })).toBe(0)
    })
  })

  describe('create', () => {
    it('does not change an existing execution', async () => {
      const execution = await created({ lease: leaseOf('me') })
      const ended = await finish(execution)
      await store.create({ execution })
      expect(await store.get(execution)).toEqual(ended)
    })

    it('keeps any JSON object unchanged', async () => {
      await fc.assert(
        fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (value) => {
          // As the API parses it: a number that a double cannot hold is an exact number.
          const input = parseJson(JSON.stringify(value)) as JsonObject
          const execution = await created({ input })
          expect((await store.get(execution))?.input).toEqual(input)
        }),
        { numRuns: propertyRuns(50) },
      )
    })
  })

  describe('finish', () => {
    it('keeps any judgement unchanged', async () => {
      const values = { original: fc.jsonValue(), trial: fc.jsonValue() }
      const difference = fc.record({ path: fc.string({ unit: 'binary' }), ...values })
      await fc.assert(
        fc.asyncProperty(fc.array(difference, { maxLength: 20 }), async (differences) => {
          const execution = await created({ lease: leaseOf('me') })
          // As they are stored: -0 is 0.
          const judgement = JSON.parse(JSON.stringify({ verdict: 'CHANGED', differences, isCut: true }))
          const outcome = { ...success(), judgement }
          const ended = await store.finish({ execution: leased(execution, 'me'), outcome, finishedAt: at })
          expect(ended?.judgement).toEqual(judgement)
          expect((await store.getSummary(execution))?.judgement).toEqual(judgement)
        }),
        { numRuns: propertyRuns(50) },
      )
    })
  })

  describe('end', () => {
    it('ends an open execution of the organization, with unleasedAt only if no lease is live', async () => {
      const { id, organizationId } = await created({ lease: leaseOf('me') })
      const end = { organizationId, id, error: CANCELLED, finishedAt: at }
      expect(await store.end({ ...end, organizationId: system.newId() })).toBeNull()
      expect(await store.end({ ...end, unleasedAt: NOW })).toBeNull()
      expect(await store.end(end)).toMatchObject({
        status: 'ERROR',
        error: CANCELLED,
        finishedAt: at,
        lease: null,
      })
    })
  })

  describe('listStale', () => {
    it('returns open executions past their lease, oldest first, and postpone succeeds once', async () => {
      const [old, older] = [
        await created({ lease: leaseOf('a', 2_000), now: 1_000, graceMs: 1_000 }),
        await created({ lease: leaseOf('b', 1_000), now: 0, graceMs: 1_000, sharesWorker: true }),
      ]
      await created({ lease: leaseOf('c', NOW) })
      const done = await created({ lease: leaseOf('d', 1_500), now: 500, graceMs: 1_000 })
      await store.finish({ execution: leased(done, 'd'), outcome: failure(CANCELLED), finishedAt: at })
      const ids = async () => (await store.listStale({ now: 3_000, limit: 1_000 })).map(({ id }) => id)
      expect((await ids()).filter((id) => [old.id, older.id, done.id].includes(id))).toEqual([
        older.id,
        old.id,
      ])
      const [stale] = (await store.listStale({ now: 3_000, limit: 1_000 })).filter(
        ({ id }) => id === older.id,
      )
      if (!stale) throw new Error('not listed')
      expect(await store.postpone({ stale, until: NOW, now: 3_000 })).toEqual({
        attempts: 1,
        attemptsSinceProgress: 1,
        sharesWorker: true,
      })
      expect(await store.postpone({ stale, until: NOW, now: 3_000 })).toBeNull()
      expect(await ids()).not.toContain(older.id)
    })
  })

  describe('delete', () => {
    it('removes a final execution with its chunks, and returns why it did not delete', async () => {
      const execution = await created({
        input: { text: randomBytes(1_000_000).toString('base64') },
        lease: leaseOf('me'),
      })
      expect(await store.delete({ ...execution, now: Date.now() })).toBe('open')
      await finish(execution)
      expect(await store.delete({ ...execution, organizationId: system.newId(), now: Date.now() })).toBe(
        'missing',
      )
      expect(await store.delete({ ...execution, now: Date.now() })).toBe('deleted')
      expect(await store.delete({ ...execution, now: Date.now() })).toBe('missing')
      expect(await store.get(execution)).toBeNull()
      const page = {
        organizationId: execution.organizationId,
        status: null,
        tenantId: null,
        limit: 10,
        after: null,
      }
      expect(await store.list({ ...page, agentId: null })).toEqual({ items: [], next: null })
    })

    it('hides the execution from its first write on, and can be repeated after a crash', async () => {
      const execution = await created({ lease: leaseOf('me') })
      await finish(execution)
      const crash = new Error('crashed')
      const crashing = executionStore({ ...table, query: () => Promise.reject(crash) })
      await expect(crashing.delete({ ...execution, now: Date.now() })).rejects.toBe(crash)
      expect(await store.get(execution)).toBeNull()
      const { organizationId, agentId } = execution
      const page = { organizationId, status: null, tenantId: null, limit: 10, after: null }
      expect((await store.list({ ...page, agentId: null })).items).toEqual([])
      expect((await store.list({ ...page, agentId })).items).toEqual([])
      const { items } = await table.query({
        IndexName: 'executions-of-agent',
        KeyConditionExpression: 'agentShard = :shard',
        ExpressionAttributeValues: { ':shard': agentShard(agentId, shardOf(execution.id, LIST_SHARDS)) },
      })
      expect(items).toEqual([])
      expect(await store.delete({ ...execution, now: Date.now() })).toBe('deleted')
      expect(await table.get(executionKey(execution.id), { consistent: true })).toMatchObject({
        purged: true,
      })
    })

    it('keeps its mark for another check when a late worker has written something since the last one', async () => {
      const execution = await created({ lease: leaseOf('me') })
      await finish(execution)
      await store.delete({ ...execution, now: Date.now() })
      const key = executionKey(execution.id)
      const readMark = () => table.get(key, { consistent: true })
      const accounting = { end: store.end, isCounted: async () => true }
      const check = async () => {
        const dueAt = Number((await readMark())?.openUntil)
        await cleanUp(table, { executionId: execution.id, item: key.sk, dueAt }, dueAt, accounting)
      }
      await table.put({ ...stepKey(execution.id, 1), data: 'late' })
      await check()
      expect(await readMark()).toMatchObject({ deleted: true, purged: true })
      expect(await table.get(stepKey(execution.id, 1), { consistent: true })).toBeFalsy()
      await check()
      expect(await readMark()).toBeFalsy()
    })
  })
})

describe('INDEXES', () => {
  it('project no payload', () => {
    const payloads = ['input', 'output', 'error', 'data']
    for (const { projection } of Object.values(INDEXES)) {
      expect(projection.filter((name) => payloads.includes(name))).toEqual([])
    }
  })
})
