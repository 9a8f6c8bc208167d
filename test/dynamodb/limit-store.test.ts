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
import { wrapTable } from '../support/tables/wrap-table.ts'

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
const anAgent = (id = system.newId()) => ({ kind: 'agent' as const, id })

/** A table some of whose requests fail: before they are carried out, or their response is lost. */
const failingTable = (table: Table, share: number, next: () => number) =>
  wrapTable(table, (_, send) => async (...args) => {
    if (next() < share) throw new Unavailable(new Error('Throttled.'))
    const response = await send(...args)
    if (next() < share) throw new Unavailable(new Error('No answer.'))
    return response
  })

describe.each(EMULATORS)('limitStore on %s', (emulator) => {
  const table = tableOn(emulator)
  const stores = openStores(table)
  const { executions, limits: store } = stores
  const aKey = (subject = TENANT) => ({ organizationId: system.newId(), subject })
  type Key = ReturnType<typeof aKey>
  const take = (key: Key, max: number, executionId = system.newId(), now = NOW) =>
    store.takeSlot({ ...key, max, executionId, now })
  /** How many executions get a slot when this many ask for one, so many of them at once. */
  const takeMany = async (key: Key, max: number, count: number, atOnce = PROCESSES) => {
    const limit = pLimit(atOnce)
    const results = await Promise.all(Array.from({ length: count }, () => limit(() => take(key, max))))
    return results.filter(Boolean).length
  }
  const newIds = (length: number) => Array.from({ length }, () => system.newId())

  /** An execution that is recorded and open. */
  async function start({ organizationId }: Key, id = system.newId()) {
    const execution = anExecution({ id, organizationId })
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
        { ...key, subject: anAgent(key.subject.id) },
        { ...key, subject: { kind: 'tenant' as const, id: 'Müller' } },
      ]
      for (const other of others) expect(await store.get(other)).toBeNull()
      const replaced = { ...LIMITS, maxOpenExecutions: null, maxRunsPerMinute: 5, warnAt: null }
      await store.put({ ...key, limits: replaced })
      expect(await store.get(key)).toEqual(replaced)
    })

    it('are deleted once, and the organization has none after the last one', async () => {
      const key = aKey()
      const other = { ...key, subject: anAgent() }
      for (const each of [key, other]) await store.put({ ...each, limits: LIMITS })
      expect([await store.delete(key), await store.delete(key)]).toEqual([true, false])
      expect(await store.hasAny(key)).toBe(true)
      expect([await store.delete(other), await store.hasAny(key)]).toEqual([true, false])
    })

    it('are listed page by page, each kind by its ids, with ids that begin alike', async () => {
      const { organizationId } = aKey()
      const ids = ['a', 'a#', 'a#1', 'aa', 'b', 'z'.repeat(128), '\u{1f600}'.repeat(128), 'é']
      const subjects = ids.map((id) => ({ kind: 'tenant' as const, id }))
      const agent = anAgent()
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
        { ...key, minute: 5, subject: anAgent('acme') },
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
        expect(await takeMany(key, max, max + 10)).toBe(max)
        expect(await store.countSlots(key)).toBe(max)
      }
    })

    it('gives an execution one slot, however often it asks, and takes it back once', async () => {
      const key = aKey()
      const [executionId = '', ...others] = newIds(4)
      const takeAll = async (...ids: (string | undefined)[]) => {
        const results = []
        for (const id of ids) results.push(await take(key, 2, id))
        return results
      }
      expect(await race(() => take(key, 2, executionId))).toEqual(Array(RACERS).fill(true))
      expect(await takeAll(others[0], others[1], executionId)).toEqual([true, false, true])
      await race(() => store.releaseSlot({ ...key, executionId }))
      expect(await store.countSlots(key)).toBe(1)
      expect(await takeAll(others[2], executionId)).toEqual([true, false])
    })

    it('gives an execution one slot of many items, and copes with one that has two', async () => {
      const key = aKey()
      const executionId = system.newId()
      expect(await race(() => take(key, 64, executionId))).toEqual(Array(RACERS).fill(true))
      expect(await store.countSlots(key)).toBe(1)
      const slot = { [`slot_${executionId.replaceAll('-', '_')}`]: NOW }
      const itemKeys = [0, 1].map((number) => slotsKey(key.organizationId, key.subject, number))
      const first = await Promise.all(itemKeys.map((each) => table.get(each, { consistent: true })))
      const other = itemKeys.find((_, number) => !((Object.keys(slot)[0] as string) in (first[number] ?? {})))
      await table.update(other as (typeof itemKeys)[0], { set: slot, add: { taken: 1 } })
      expect(await store.countSlots(key)).toBe(2)
      for (let i = 2; i < 64; i++) expect(await take(key, 64)).toBe(true)
      expect(await take(key, 64)).toBe(false)
      await store.releaseSlot({ ...key, executionId })
      expect(await take(key, 64)).toBe(true)
    })

    it('takes one slot if its response is lost and the SDK repeats it', async () => {
      const key = aKey()
      const repeating = limitStore(retryingTable(table))
      const ids = newIds(3)
      for (const [index, executionId] of ids.entries())
        expect(await repeating.takeSlot({ ...key, max: 2, executionId, now: NOW })).toBe(index < 2)
      await repeating.releaseSlot({ ...key, executionId: ids[0] as string })
      expect(await store.countSlots(key)).toBe(1)
    })

    it('takes over the slots of executions that have ended or were deleted, not of open ones', async () => {
      const key = aKey()
      const all = [await start(key), await start(key), await start(key)] as const
      for (const { id } of all) expect(await take(key, 3, id)).toBe(true)
      expect(await take(key, 3)).toBe(false)
      for (const execution of all.slice(1)) await end(execution)
      await executions.delete({ ...all[2], now: NOW })
      expect(await takeMany(key, 3, RACERS, RACERS)).toBe(2)
      expect(await store.countSlots(key)).toBe(3)
      // The end of an execution whose slot was taken over takes none from others.
      for (const { id } of all.slice(1)) await store.releaseSlot({ ...key, executionId: id })
      expect(await store.countSlots(key)).toBe(3)
    })

    it('takes over a slot whose execution was not recorded within 10 minutes', async () => {
      const key = aKey()
      for (const [passed, isTaken] of [
        [0, true],
        [10 * MINUTE_MS, false],
        [10 * MINUTE_MS + 1, true],
      ] as const)
        expect(await take(key, 1, system.newId(), NOW + passed)).toBe(isTaken)
      expect(await store.countSlots(key)).toBe(1)
    })

    it('takes over every slot of many, sooner or later', async () => {
      const key = aKey()
      const max = 20
      const all = await Promise.all(newIds(max).map((id) => start(key, id)))
      for (const { id } of all) expect(await take(key, max, id)).toBe(true)
      await end(all[0] as (typeof all)[number])
      let attempts = 0
      while (!(await take(key, max))) if (++attempts > 100) throw new Error('It stays occupied.')
      expect(await take(key, max)).toBe(false)
    })

    it('gives none above a limit that was lowered, and uses one that was raised', async () => {
      const key = aKey()
      const ids = newIds(40)
      for (const id of ids) await take(key, 40, id)
      for (const max of [39, 33, 17, 16, 1]) expect(await take(key, max)).toBe(false)
      for (const executionId of ids.slice(0, 30)) await store.releaseSlot({ ...key, executionId })
      expect([await take(key, 10), await take(key, 11), await take(key, 11)]).toEqual([false, true, false])
      expect(await takeMany(key, 50, 60, 60)).toBe(39)
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
      await takeMany(key, max, 40)
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
          if (!(await untilDone(() => failing.takeSlot({ ...key, max, executionId, now: NOW })))) continue
          expect(await store.countSlots(key)).toBeLessThanOrEqual(max)
          await untilDone(() => failing.releaseSlot({ ...key, executionId }))
        }
      }
      await Promise.all(Array.from({ length: RACERS }, process))
      expect(await store.countSlots(key)).toBe(0)
      expect(await takeMany(key, max, RACERS, RACERS)).toBe(max)
    })

    it('agrees with a model, in any order of takes, releases, ends and changes of the limit', async () => {
      const stepOf = (weight: number, kind: 'take' | 'release' | 'die' | 'max', max: number) => ({
        ...{ weight, arbitrary: fc.record({ kind: fc.constant(kind), n: fc.nat(max) }) },
      })
      const kinds = [
        stepOf(5, 'take', 25),
        stepOf(2, 'release', 25),
        stepOf(2, 'die', 25),
        stepOf(1, 'max', 22),
      ]
      const step = fc.oneof(...kinds)
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
          const key = aKey()
          const ids = newIds(26)
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
              await take(key, max, system.newId(), now)
              now += 11 * MINUTE_MS
            }
            if (kind !== 'take') continue
            const mayTake = open.has(n) || open.size < max
            if (mayTake && !open.has(n)) await start(key, executionId)
            expect(await take(key, max, executionId, now)).toBe(mayTake)
            if (mayTake) open.add(n)
          }
        }),
        { numRuns: propertyRuns(30 * shareOf(emulator)) },
      )
    })

    it('reads and writes one unit each with up to 16 slots', async () => {
      const key = aKey({ kind: 'tenant', id: 't'.repeat(100) })
      for (let n = 0; n < 16; n++) await take(key, 16)
      const item = await table.get(slotsKey(key.organizationId, key.subject, 0), { consistent: true })
      const bytes = Object.entries(item as object).reduce(
        (sum, [name, value]) => sum + name.length + (typeof value === 'number' ? 8 : String(value).length),
        0,
      )
      expect(bytes).toBeLessThan(1_024)
    })
  })

  it('adds up exactly what was spent, in the day and the month of its time', async () => {
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
    for (const other of [aKey(), { ...key, subject: anAgent('acme') }])
      expect(await store.getSpent({ ...other, at: NOW })).toEqual({ day: 0, month: 0 })
  })

  it('stores a warning of one of many, which belongs to its organization', async () => {
    const warning: LimitWarning = {
      ...{ id: system.newId(), ...aKey(), period: 'day', limitUsd: 10, spentUsd: 8.5, warnAt: 0.8 },
      at: '2026-11-25T10:20:30.000Z',
    }
    const results = await race((n) => store.putWarning({ warning: { ...warning, spentUsd: n } }))
    expect(results.filter(Boolean)).toHaveLength(1)
    const stored = await store.getWarning(warning)
    expect(stored).toEqual({ ...warning, spentUsd: results.indexOf(true) })
    expect(await store.getWarning({ ...warning, organizationId: system.newId() })).toBeNull()
  })
})
