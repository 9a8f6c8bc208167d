import fc from 'fast-check'
import pLimit from 'p-limit'
import { describe, expect, it } from 'vitest'
import { Unavailable } from '../../lib/core/errors.ts'
import { CANCELLED } from '../../lib/core/execution-errors.ts'
import type { LimitSubject, LimitWarning, StoredLimits } from '../../lib/core/usage-limits.ts'
import { limitStore } from '../../lib/dynamodb/limit-store.ts'
import { openStores } from '../../lib/dynamodb/open-stores.ts'
import { slotsKey } from '../../lib/dynamodb/table/keys.ts'
import type { Table } from '../../lib/dynamodb/table/table.ts'
import { endExecution } from '../../lib/engine/end-execution.ts'
import { system } from '../../lib/system.ts'
import { propertyRuns } from '../support/data/property-runs.ts'
import { seededRandom } from '../support/data/random.ts'
import { readSeed } from '../support/data/seed.ts'
import { anExecution } from '../support/engine/executions.ts'
import { retryingTable } from '../support/lifecycle/tables.ts'
import { EMULATORS, expectPages, RACERS, race, shareOf, tableOn } from '../support/tables/emulators.ts'

const NOW = Date.parse('2026-11-25T10:20:30.000Z')
const MINUTE_MS = 60_000
/** Processes that use the slots of one subject at the same time. */
const PROCESSES = 16

const LIMITS: StoredLimits = {
  maxOpenExecutions: 3,
  maxRunsPerMinute: null,
  maxCostUsd: { day: 0.1, month: null },
  warnAt: 0.8,
  queueWhenFull: false,
  updatedAt: '2026-11-25T10:20:30.000Z',
}
const TENANT: LimitSubject = { kind: 'tenant', id: 'acme' }

/** A table some of whose requests fail: before they are carried out, or their response is lost. */
function failingTable(table: Table, share: number, next: () => number): Table {
  const failing =
    <A extends unknown[], R>(request: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (next() < share) throw new Unavailable(new Error('Throttled.'))
      const response = await request(...args)
      if (next() < share) throw new Unavailable(new Error('No answer.'))
      return response
    }
  const { get, put, update, query, getMany, delete: remove } = table
  return {
    ...table,
    ...{ get: failing(get), put: failing(put), update: failing(update), query: failing(query) },
    ...{ getMany: failing(getMany), delete: failing(remove) },
  }
}

describe.each(EMULATORS)('limitStore on %s', (emulator) => {
  const table = tableOn(emulator)
  const stores = openStores(table)
  const { executions, limits: store } = stores
  const aKey = (subject = TENANT) => ({ organizationId: system.newId(), subject })

  /** An execution that is recorded and open. */
  async function start({ organizationId }: { organizationId: string }) {
    const execution = anExecution({ organizationId })
    await executions.create({ execution })
    return execution
  }

  const end = ({ organizationId, id }: { organizationId: string; id: string }) =>
    endExecution({ ...stores, system }, { organizationId, id, error: CANCELLED })

  describe('limits', () => {
    it('are returned as they were set, and are those of one organization and subject', async () => {
      const key = aKey({ kind: 'tenant', id: 'Müller#1 / \u{1f600}' })
      expect([await store.get(key), await store.hasAny(key)]).toEqual([null, false])
      await store.put({ ...key, limits: LIMITS })
      expect([await store.get(key), await store.hasAny(key)]).toEqual([LIMITS, true])
      const others = [
        { ...key, organizationId: system.newId() },
        { ...key, subject: { ...key.subject, kind: 'agent' as const } },
        { ...key, subject: { kind: 'tenant' as const, id: 'Müller' } },
      ]
      for (const other of others) expect(await store.get(other)).toBeNull()
      const replaced = { ...LIMITS, maxOpenExecutions: null, maxRunsPerMinute: 5, warnAt: null }
      await store.put({ ...key, limits: replaced })
      expect(await store.get(key)).toEqual(replaced)
    })

    it('are deleted once, and the organization has none after the last one', async () => {
      const key = aKey()
      const other = { ...key, subject: { kind: 'agent' as const, id: system.newId() } }
      for (const each of [key, other]) await store.put({ ...each, limits: LIMITS })
      expect([await store.delete(key), await store.delete(key)]).toEqual([true, false])
      expect(await store.hasAny(key)).toBe(true)
      expect([await store.delete(other), await store.hasAny(key)]).toEqual([true, false])
    })

    it('are listed page by page, each kind by its ids, with ids that begin alike', async () => {
      const { organizationId } = aKey()
      const ids = ['a', 'a#', 'a#1', 'aa', 'b', 'z'.repeat(128), '\u{1f600}'.repeat(128), 'é']
      const subjects = ids.map((id) => ({ kind: 'tenant' as const, id }))
      const agent = { kind: 'agent' as const, id: system.newId() }
      for (const subject of [...subjects, agent]) await store.put({ organizationId, subject, limits: LIMITS })
      const bytewise = [...subjects].sort((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)))
      await expectPages(
        (page) => store.list({ organizationId, kind: 'tenant', ...page }),
        bytewise.map((subject) => ({ ...LIMITS, subject })),
      )
      const agents = await store.list({ organizationId, kind: 'agent', limit: 10, after: null })
      expect(agents).toEqual({ items: [{ ...LIMITS, subject: agent }], next: null })
    })
  })

  describe('countRun', () => {
    it('counts the runs of a minute up to the limit, and each subject apart', async () => {
      const key = aKey()
      const counts = await race(() => store.countRun({ ...key, minute: 5, max: 3 }))
      expect(counts.filter(Boolean)).toHaveLength(Math.min(RACERS, 3))
      expect(await store.countRun({ ...key, minute: 5, max: 4 })).toBe(true)
      const others = [
        { ...key, minute: 6 },
        { ...key, minute: 5, organizationId: system.newId() },
        { ...key, minute: 5, subject: { kind: 'agent' as const, id: 'acme' } },
      ]
      for (const other of others) expect(await store.countRun({ ...other, max: 1 })).toBe(true)
      for (const other of others) expect(await store.countRun({ ...other, max: 1 })).toBe(false)
    })

    it('takes back no more than was counted if responses are lost and the SDK repeats the requests', async () => {
      const key = { ...aKey(), minute: 5 }
      const max = 10
      for (let i = 0; i < max; i++) await store.countRun({ ...key, max })
      const repeating = limitStore(retryingTable(table))
      for (let i = 0; i < 3; i++) await repeating.uncountRun(key)
      const counts: boolean[] = []
      for (let i = 0; i < 6; i++) counts.push(await store.countRun({ ...key, max }))
      expect(counts).toEqual([true, true, true, false, false, false])
    })
  })

  describe('takeSlot', () => {
    it('gives out exactly as many slots as there are, whatever their number', async () => {
      for (const max of [1, 16, 17, 40]) {
        const key = aKey()
        const take = () => store.takeSlot({ ...key, max, executionId: system.newId(), now: NOW })
        const limit = pLimit(PROCESSES)
        const results = await Promise.all(Array.from({ length: max + 10 }, () => limit(take)))
        expect(results.filter(Boolean)).toHaveLength(max)
        expect(await store.countSlots(key)).toBe(max)
      }
    })

    it('gives an execution one slot, however often it asks, and takes it back once', async () => {
      const key = aKey()
      const executionId = system.newId()
      const take = (id = executionId) => store.takeSlot({ ...key, max: 2, executionId: id, now: NOW })
      expect(await race(() => take())).toEqual(Array(RACERS).fill(true))
      expect([await take(system.newId()), await take(system.newId()), await take()]).toEqual([
        true,
        false,
        true,
      ])
      await race(() => store.releaseSlot({ ...key, executionId }))
      expect(await store.countSlots(key)).toBe(1)
      expect([await take(system.newId()), await take()]).toEqual([true, false])
    })

    it('gives an execution one slot of many items, and copes with one that has two', async () => {
      const key = aKey()
      const executionId = system.newId()
      const take = (id = executionId) => store.takeSlot({ ...key, max: 64, executionId: id, now: NOW })
      expect(await race(() => take())).toEqual(Array(RACERS).fill(true))
      expect(await store.countSlots(key)).toBe(1)
      const slot = { [`slot_${executionId.replaceAll('-', '_')}`]: NOW }
      const itemKeys = [0, 1].map((number) => slotsKey(key.organizationId, key.subject, number))
      const first = await Promise.all(itemKeys.map((each) => table.get(each, { consistent: true })))
      const other = itemKeys.find((_, number) => !((Object.keys(slot)[0] as string) in (first[number] ?? {})))
      await table.update(other as (typeof itemKeys)[0], { set: slot, add: { taken: 1 } })
      expect(await store.countSlots(key)).toBe(2)
      for (let i = 2; i < 64; i++) expect(await take(system.newId())).toBe(true)
      expect(await take(system.newId())).toBe(false)
      await store.releaseSlot({ ...key, executionId })
      expect(await take(system.newId())).toBe(true)
    })

    it('takes one slot if its response is lost and the SDK repeats it', async () => {
      const key = aKey()
      const repeating = limitStore(retryingTable(table))
      const ids = Array.from({ length: 3 }, () => system.newId())
      const take = (executionId: string) => repeating.takeSlot({ ...key, max: 2, executionId, now: NOW })
      expect([await take(ids[0] as string), await take(ids[1] as string)]).toEqual([true, true])
      expect(await take(ids[2] as string)).toBe(false)
      await repeating.releaseSlot({ ...key, executionId: ids[0] as string })
      expect(await store.countSlots(key)).toBe(1)
    })

    it('takes over the slots of executions that have ended or were deleted, not of open ones', async () => {
      const key = aKey()
      const all = [await start(key), await start(key), await start(key)]
      const take = (executionId: string) => store.takeSlot({ ...key, max: 3, executionId, now: NOW })
      for (const { id } of all) expect(await take(id)).toBe(true)
      expect(await take(system.newId())).toBe(false)
      for (const execution of all.slice(1)) await end(execution)
      await executions.delete({ ...(all[2] as (typeof all)[number]), now: NOW })
      const results = await race(() => take(system.newId()))
      expect(results.filter(Boolean)).toHaveLength(2)
      expect(await store.countSlots(key)).toBe(3)
      // The end of an execution whose slot was taken over takes none from others.
      for (const { id } of all.slice(1)) await store.releaseSlot({ ...key, executionId: id })
      expect(await store.countSlots(key)).toBe(3)
    })

    it('takes over a slot whose execution was not recorded within 10 minutes', async () => {
      const key = aKey()
      const take = (now: number) => store.takeSlot({ ...key, max: 1, executionId: system.newId(), now })
      expect(await take(NOW)).toBe(true)
      expect(await take(NOW + 10 * MINUTE_MS)).toBe(false)
      expect(await take(NOW + 10 * MINUTE_MS + 1)).toBe(true)
      expect(await store.countSlots(key)).toBe(1)
    })

    it('takes over every slot of many, sooner or later', async () => {
      const key = aKey()
      const max = 20
      const take = (executionId: string) => store.takeSlot({ ...key, max, executionId, now: NOW })
      const all = await Promise.all(Array.from({ length: max }, () => start(key)))
      for (const { id } of all) expect(await take(id)).toBe(true)
      await end(all[0] as (typeof all)[number])
      let attempts = 0
      while (!(await take(system.newId()))) if (++attempts > 100) throw new Error('It stays occupied.')
      expect(await take(system.newId())).toBe(false)
    })

    it('gives none above a limit that was lowered, and uses one that was raised', async () => {
      const key = aKey()
      const ids = Array.from({ length: 40 }, () => system.newId())
      const take = (max: number, executionId = system.newId()) =>
        store.takeSlot({ ...key, max, executionId, now: NOW })
      for (const id of ids) await take(40, id)
      for (const max of [39, 33, 17, 16, 1]) expect(await take(max)).toBe(false)
      for (const executionId of ids.slice(0, 30)) await store.releaseSlot({ ...key, executionId })
      expect([await take(10), await take(11), await take(11)]).toEqual([false, true, false])
      const raised = await Promise.all(Array.from({ length: 60 }, () => take(50)))
      expect(raised.filter(Boolean)).toHaveLength(39)
    })

    it.each([
      { before: 31, kept: [16, 31], max: 16 },
      { before: 64, kept: [0, 10, 40, 64], max: 39 },
    ])('gives out exactly a limit that was lowered, wherever its slots are: $max', async (given) => {
      const { before, kept, max } = given
      const key = aKey()
      const isKept = (n: number) =>
        kept.some((from, i) => i % 2 === 0 && n >= from && n < Number(kept[i + 1]))
      for (let number = 0; number * 16 < before; number++) {
        const ns = Array.from({ length: Math.min(before - number * 16, 16) }, (_, n) => number * 16 + n)
        const slots = ns.filter(isKept).map(() => [`slot_${system.newId().replaceAll('-', '_')}`, NOW])
        if (slots.length === 0) continue
        const itemKey = slotsKey(key.organizationId, key.subject, number)
        await table.update(itemKey, { set: Object.fromEntries(slots), add: { taken: slots.length } })
      }
      const take = () => store.takeSlot({ ...key, max, executionId: system.newId(), now: NOW })
      const limit = pLimit(PROCESSES)
      await Promise.all(Array.from({ length: 40 }, () => limit(take)))
      expect(await store.countSlots(key)).toBe(max)
    })

    const seed = readSeed()
    it(`never has more holders than slots while requests fail, and all of them in the end (seed ${seed})`, async () => {
      const key = aKey()
      const max = 5
      const failing = limitStore(failingTable(table, 0.2, seededRandom(seed, emulator).next))
      const untilDone = async <T>(call: () => Promise<T>): Promise<T> => {
        for (;;) {
          try {
            return await call()
          } catch (error) {
            if (!(error instanceof Unavailable)) throw error
          }
        }
      }
      const process = async () => {
        for (let n = 0; n < 2; n++) {
          const executionId = system.newId()
          const take = () => failing.takeSlot({ ...key, max, executionId, now: NOW })
          if (!(await untilDone(take))) continue
          expect(await store.countSlots(key)).toBeLessThanOrEqual(max)
          await untilDone(() => failing.releaseSlot({ ...key, executionId }))
        }
      }
      await Promise.all(Array.from({ length: RACERS }, process))
      expect(await store.countSlots(key)).toBe(0)
      const taken = await race(() => store.takeSlot({ ...key, max, executionId: system.newId(), now: NOW }))
      expect(taken.filter(Boolean)).toHaveLength(max)
    })

    it('agrees with a model, in any order of takes, releases, ends and changes of the limit', async () => {
      const step = fc.oneof(
        { weight: 5, arbitrary: fc.record({ kind: fc.constant('take' as const), n: fc.nat(25) }) },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), n: fc.nat(25) }) },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant('die' as const), n: fc.nat(25) }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('max' as const), n: fc.nat(22) }) },
      )
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
          const key = aKey()
          const ids = Array.from({ length: 26 }, () => system.newId())
          const open = new Set<number>()
          let now = NOW
          let max = 2
          for (const { kind, n } of steps) {
            const executionId = ids[n] as string
            if (kind === 'max') max = n + 1
            if (kind === 'release') {
              open.delete(n)
              await store.releaseSlot({ ...key, executionId })
            }
            // A process that takes a slot and dies: nobody can use it for 10 minutes.
            if (kind === 'die') {
              await store.takeSlot({ ...key, max, executionId: system.newId(), now })
              now += 11 * MINUTE_MS
            }
            if (kind !== 'take') continue
            const mayTake = open.has(n) || open.size < max
            if (mayTake && !open.has(n)) {
              const execution = anExecution({ id: executionId, organizationId: key.organizationId })
              await executions.create({ execution })
            }
            expect(await store.takeSlot({ ...key, max, executionId, now })).toBe(mayTake)
            if (mayTake) open.add(n)
          }
        }),
        { numRuns: propertyRuns(30 * shareOf(emulator)) },
      )
    })

    it('reads and writes one unit each with up to 16 slots', async () => {
      const key = aKey({ kind: 'tenant', id: 't'.repeat(100) })
      for (let n = 0; n < 16; n++)
        await store.takeSlot({ ...key, max: 16, executionId: system.newId(), now: NOW })
      const item = await table.get(slotsKey(key.organizationId, key.subject, 0), { consistent: true })
      const bytes = Object.entries(item as object).reduce(
        (sum, [name, value]) => sum + name.length + (typeof value === 'number' ? 8 : String(value).length),
        0,
      )
      expect(bytes).toBeLessThan(1_024)
    })
  })

  describe('what was spent', () => {
    it('is exact, in the day and the month of its time', async () => {
      const key = aKey()
      const spend = (at: string, costUsd: number) => store.addSpent({ ...key, at: Date.parse(at), costUsd })
      await race(() => spend('2026-11-25T23:59:59.999Z', 0.1))
      await race(() => spend('2026-11-01T00:00:00Z', 0.000_000_001))
      await race(() => spend('2026-12-25T12:00:00Z', 7))
      await spend('2026-11-25T12:00:00Z', 0)
      const month = (RACERS * 100_000_001) / 1e9
      const spent = (at: string) => store.getSpent({ ...key, at: Date.parse(at) })
      expect(await spent('2026-11-25T00:00:00Z')).toEqual({ day: RACERS / 10, month })
      expect(await spent('2026-11-02T00:00:00Z')).toEqual({ day: 0, month })
      expect(await spent('2026-12-25T00:00:00Z')).toEqual({ day: 7 * RACERS, month: 7 * RACERS })
      expect(await store.getSpent({ ...aKey(), at: NOW })).toEqual({ day: 0, month: 0 })
      const agent = { ...key, subject: { kind: 'agent' as const, id: 'acme' } }
      expect(await store.getSpent({ ...agent, at: NOW })).toEqual({ day: 0, month: 0 })
    })
  })

  describe('a warning', () => {
    it('is written by one of many, and belongs to its organization', async () => {
      const warning: LimitWarning = {
        id: system.newId(),
        organizationId: system.newId(),
        subject: TENANT,
        period: 'day',
        limitUsd: 10,
        spentUsd: 8.5,
        warnAt: 0.8,
        at: '2026-11-25T10:20:30.000Z',
      }
      const results = await race((n) => store.putWarning({ warning: { ...warning, spentUsd: n } }))
      expect(results.filter(Boolean)).toHaveLength(1)
      const stored = await store.getWarning(warning)
      expect(stored).toEqual({ ...warning, spentUsd: results.indexOf(true) })
      expect(await store.getWarning({ ...warning, organizationId: system.newId() })).toBeNull()
    })
  })
})
