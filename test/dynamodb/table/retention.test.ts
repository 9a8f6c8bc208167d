import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { type Batch, firstLane, NO_TOTALS as totals } from '../../../lib/core/batch.ts'
import type { Execution } from '../../../lib/core/execution.ts'
import { CANCELLED } from '../../../lib/core/execution-errors.ts'
import { cachedExecution } from '../../../lib/core/new-execution.ts'
import { batchStore } from '../../../lib/dynamodb/batch-store.ts'
import { cacheStore, declarationStore } from '../../../lib/dynamodb/cache-stores.ts'
import { executionStore } from '../../../lib/dynamodb/executions/execution-store.ts'
import { stepStore } from '../../../lib/dynamodb/executions/step-store.ts'
import {
  batchBlockKey,
  batchKey,
  cacheKey,
  declarationsKey,
  executionKey,
  laneKey,
} from '../../../lib/dynamodb/table/keys.ts'
import { openTable, type Table } from '../../../lib/dynamodb/table/table.ts'
import { system } from '../../../lib/system.ts'
import { provisionTable } from '../../../local/emulators/provision.ts'
import { aBatch } from '../../support/batches/a-batch.ts'
import { anExecution, leased, NO_PROGRESS } from '../../support/engine/executions.ts'
import { EMULATORS } from '../../support/tables/emulators.ts'
import { itemsIn } from '../../support/tables/items-in.ts'

const DAY_MS = 86_400_000
const owner = 'me'
/** Of steps and chunks, after the latest possible end: the deadline of a day, and the waits. */
const SLACK_DAYS = 7

/** Larger than a record may contain, even compressed. */
const large = () => ({ text: randomBytes(20_000).toString('base64') })

const iso = (at = Date.now()) => new Date(at).toISOString()
/** From now until an item expires, rounded; null for one that does not. */
const daysUntil = (ttl: unknown) =>
  ttl === undefined ? null : Math.round((Number(ttl) * 1000 - Date.now()) / DAY_MS)

async function createRun(table: Table): Promise<Execution> {
  const now = Date.now()
  const execution = anExecution({ input: large(), now, lease: { owner, expiresAt: now + DAY_MS } })
  await executionStore(table).create({ execution })
  const step = {
    kind: 'CODE' as const,
    number: 1,
    name: 'a',
    value: large(),
    startedAt: iso(),
    finishedAt: iso(),
  }
  await stepStore(table).append({ executionId: execution.id, owner, step, progress: NO_PROGRESS })
  return execution
}

const finish = (table: Table, execution: Execution, at?: number) => {
  const outcome = { status: 'SUCCESS' as const, output: large(), ...NO_PROGRESS }
  return executionStore(table).finish({ execution: leased(execution, owner), outcome, finishedAt: iso(at) })
}

const itemsOf = (table: Table, { id }: Execution) => itemsIn(table, executionKey(id).pk)

/** How many days are left of each item. */
async function daysUntilExpiry(table: Table, execution: Execution) {
  const items = await itemsOf(table, execution)
  const record = daysUntil(items.find(({ sk }) => sk === 'RECORD')?.ttl)
  const others = items.filter(({ sk }) => sk !== 'RECORD').map(({ ttl }) => daysUntil(ttl))
  return { record, others: new Set(others), count: others.length }
}

describe.each(EMULATORS)('retention on %s', (emulator) => {
  const name = `retention-${system.newId()}`
  const open = (EXECUTION_RETENTION_DAYS?: string, MAX_WAIT_DAYS?: string) => {
    const environment = { TABLE_NAME: name, DYNAMODB_ENDPOINT: inject(emulator) }
    return openTable({ ...environment, EXECUTION_RETENTION_DAYS, MAX_WAIT_DAYS })
  }

  beforeAll(() => provisionTable(inject(emulator), name))

  describe('a table with a retention of 30 days', () => {
    it('expires the record 30 days after its end, other items a week after its latest possible end', async () => {
      const table = open('30', '10')
      const execution = await createRun(table)
      const latest = new Set([30 + 1 + 10 + SLACK_DAYS])
      expect(await daysUntilExpiry(table, execution)).toMatchObject({ record: null, others: latest })
      await finish(table, execution, Date.now() + 2 * DAY_MS)
      const { count, ...expiry } = await daysUntilExpiry(table, execution)
      expect(expiry).toEqual({ record: 32, others: latest })
      expect(count).toBeGreaterThanOrEqual(5)
    })

    it('expires a batch 30 days after its end, its lines and lanes with the steps of its executions', async () => {
      const table = open('30', '10')
      const batches = batchStore(table)
      const batch = (await batches.create(aBatch({ lines: 150 }))) as Batch
      await batches.putLane({ batch, lane: { ...firstLane(0, batch), line: null }, replaces: 0 })
      const keys = [batchKey(batch.id), batchBlockKey(batch.id, 1, 0), laneKey(batch.id, 0)]
      const expiries = async () =>
        (await table.getMany(keys, { consistent: true })).map(({ ttl }) => daysUntil(ttl))
      const latest = 30 + 1 + 10 + SLACK_DAYS
      expect(await expiries()).toEqual([null, latest, latest])
      await batches.end({ batch, totals, endedAt: iso(Date.now() + 2 * DAY_MS) })
      expect(await expiries()).toEqual([32, latest, latest])
      await batches.hide({ batch, now: Date.now() })
      expect(await expiries()).toEqual([null, latest, latest])
    })

    it('keeps declarations longer than all steps of the next day that refer to them', async () => {
      const table = open('30', '10')
      const key = { organizationId: system.newId(), hash: 'a1' }
      await declarationStore(table).put({ ...key, declarations: {}, now: Date.now() })
      const item = await table.get(declarationsKey(key.organizationId, key.hash), { consistent: true })
      expect(daysUntil(item?.ttl)).toBe(1 + 30 + 1 + 10 + SLACK_DAYS)
    })

    it.each([
      ['ended regardless of its worker', CANCELLED],
      ['ended by its worker', null],
    ])('expires a record that is %s, also when feedback is given later', async (_, error) => {
      const table = open('30')
      const execution = await createRun(table)
      const { id, organizationId } = execution
      const finishedAt = iso()
      if (error) await executionStore(table).end({ organizationId, id, error, finishedAt })
      else await finish(table, execution)
      const feedback = { rating: 1 as const, correctedOutput: null, note: null, updatedAt: finishedAt }
      await executionStore(table).giveFeedback({ organizationId, id, feedback, writer: 'me' })
      expect(await daysUntilExpiry(table, execution)).toMatchObject({ record: 30 })
    })

    it('expires a record that is final when it is created', async () => {
      const table = open('30')
      const { id, now, ...params } = { ...anExecution(), now: Date.now() }
      const execution = cachedExecution({ ...params, id, now, deadlineMs: 1_000 }, system.newId(), {})
      await executionStore(table).create({ execution })
      expect(await daysUntilExpiry(table, execution)).toMatchObject({ record: 30 })
    })

    it('gives no expiry to what remains of a deleted execution: a sweep deletes it', async () => {
      const table = open('30')
      const execution = await createRun(table)
      await finish(table, execution)
      await executionStore(table).delete({ ...execution, now: Date.now() })
      expect(await itemsOf(table, execution)).toMatchObject([{ sk: 'RECORD', deleted: true }])
      expect((await daysUntilExpiry(table, execution)).record).toBeNull()
    })

    it('expires a cache entry with its execution at the latest', async () => {
      const table = open('30')
      const cache = cacheStore(table)
      const end = Date.now() + 30 * DAY_MS
      for (const [expiresAt, expected] of [
        [null, end],
        [end + DAY_MS, end],
        [end - DAY_MS, end - DAY_MS],
      ] as const) {
        const [key, executionId] = [system.newId(), system.newId()]
        await cache.reserve({ key, executionId, replaces: null, now: Date.now() })
        await cache.store({ key, executionId, output: { text: 'x' }, expiresAt })
        const item = await table.get(cacheKey(key), { consistent: true })
        expect(Math.abs(Number(item?.expiresAt) - expected)).toBeLessThan(DAY_MS / 2)
        expect(item?.ttl).toBe(Math.ceil(Number(item?.expiresAt) / 1000))
      }
    })

    it('expires nothing else', async () => {
      const table = open('30')
      const key = { pk: `AGENT#${system.newId()}`, sk: 'AGENT' }
      await table.put(key)
      await table.writeMany([{ put: { ...key, sk: 'CODE' } }])
      expect((await itemsIn(table, key.pk)).map(({ ttl }) => ttl)).toEqual([undefined, undefined])
    })

    it('rejects an invalid number of days', () => {
      expect(() => open('a month')).toThrow('EXECUTION_RETENTION_DAYS is "a month"')
    })
  })

  it('removes the expiry that an earlier release gave to the record of a run that is suspended', async () => {
    const table = open('1')
    const execution = await createRun(table)
    await table.update(executionKey(execution.id), { set: { ttl: 1 } })
    const at = Date.now()
    const suspension = { at, until: at + DAY_MS, waits: [] }
    const times = { openUntil: suspension.until, deadlineAt: at + 2 * DAY_MS }
    await executionStore(table).suspend({ execution, owner, suspension, ...times })
    expect(await daysUntilExpiry(table, execution)).toMatchObject({ record: null })
  })

  it('expires nothing in a table without a retention', async () => {
    const table = open()
    const execution = await createRun(table)
    await finish(table, execution)
    expect(new Set((await itemsOf(table, execution)).map(({ ttl }) => ttl))).toEqual(new Set([undefined]))
    expect(table.expiryOf(execution.id)).toBeNull()
  })
})
