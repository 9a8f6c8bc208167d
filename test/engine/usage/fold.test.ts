import { describe, expect, inject, it, vi } from 'vitest'
import { Unavailable } from '../../../lib/core/errors.ts'
import { failedExecution } from '../../../lib/core/new-execution.ts'
import type { UsageStore } from '../../../lib/core/ports/usage.ts'
import {
  DEPLOYMENT,
  FOLD_DELAY_MS,
  INTERVAL_MS,
  type UsageInterval,
  type UsageRow,
} from '../../../lib/core/usage.ts'
import { openStores } from '../../../lib/dynamodb/open-stores.ts'
import { runCleanups } from '../../../lib/engine/maintenance.ts'
import { foldUsage, newFoldMemory } from '../../../lib/engine/usage/fold.ts'
import { system } from '../../../lib/system.ts'
import { seededRandom } from '../../support/data/random.ts'
import { readSeed } from '../../support/data/seed.ts'
import { anExecution, runOptions } from '../../support/engine/executions.ts'
import { Died, dyingTable } from '../../support/lifecycle/deletion.ts'
import { memoryTable } from '../../support/tables/memory-table.ts'
import { sumUsage } from '../../support/usage/memory-usage.ts'

const { minute: MINUTE, hour: HOUR, day: DAY } = INTERVAL_MS
/** Every request in the night, otherwise every seventh. */
const STEP = inject('isNightly') ? 1 : 7
/** The beginning of a day. */
const START = Date.parse('2026-11-25T00:00:00Z')

class Scenario {
  readonly table = memoryTable()
  readonly ended: { organizationId: string; at: number }[] = []

  /** Executions that fail at this time. */
  async end(at: number, { organizationId = system.newId(), count = 1, table = this.table } = {}) {
    for (let i = 0; i < count; i++) {
      const ids = { organizationId, agentId: 'agent', versionId: 'version', tenantId: null }
      const given = { ...anExecution(), ...ids, options: runOptions(), now: at, deadlineMs: 1 }
      const execution = failedExecution(given, { code: 'AgentFailed', message: 'It failed.' })
      await openStores(table).executions.create({ execution })
      this.ended.push({ organizationId, at })
    }
    return organizationId
  }

  fold(now: number, { table = this.table, memory = newFoldMemory(), usage = openStores(table).usage } = {}) {
    return foldUsage({ usage, system: { now: () => now }, memory })
  }

  async runs(
    organizationId: string,
    interval: UsageInterval,
    from: number,
    to = from + INTERVAL_MS[interval],
  ) {
    const rows: UsageRow[] = []
    for await (const part of openStores(this.table).usage.read({ organizationId, interval, from, to }))
      rows.push(...part.rows)
    return sumUsage(rows, [])[0]?.runs ?? 0
  }

  /** Whether each organization has its executions in each interval that is final by now. */
  async expectComplete(from = START - DAY) {
    const position = await openStores(this.table).usage.getPosition()
    for (const interval of ['minute', 'hour', 'day'] as const)
      for (const organizationId of new Set(this.ended.map((ended) => ended.organizationId))) {
        const until = position?.[interval] ?? 0
        const final = this.ended.filter((each) => each.organizationId === organizationId && each.at < until)
        const runs = await this.runs(organizationId, interval, from, Math.max(until, from))
        expect({ interval, runs }).toEqual({ interval, runs: final.length })
      }
    return position
  }
}

describe('foldUsage', () => {
  it('counts a minute at once, and for good when nothing can enter it any more', async () => {
    const scenario = new Scenario()
    const organizationId = await scenario.end(START + 5 * MINUTE)
    const minute = START + 5 * MINUTE
    await scenario.fold(minute + MINUTE - 1)
    expect(await scenario.runs(organizationId, 'minute', minute)).toBe(0)
    await scenario.fold(minute + MINUTE)
    expect(await scenario.runs(organizationId, 'minute', minute)).toBe(1)
    // Late: within what AWS accepts.
    await scenario.end(minute + MINUTE - 1, { organizationId })
    await scenario.fold(minute + MINUTE + FOLD_DELAY_MS - 1)
    expect(await openStores(scenario.table).usage.getPosition()).toBeNull()
    expect(await scenario.fold(minute + MINUTE + FOLD_DELAY_MS)).toBe(FOLD_DELAY_MS)
    expect(await scenario.expectComplete()).toEqual({ minute: minute + MINUTE, hour: START, day: START })
    expect(await scenario.runs(organizationId, 'minute', minute)).toBe(2)
    await scenario.end(minute + 2 * MINUTE, { organizationId })
    expect(await scenario.runs(organizationId, 'minute', minute + MINUTE, minute + 10 * MINUTE)).toBe(0)
  })

  it('counts a minute whose entries are on several pages', async () => {
    const scenario = new Scenario()
    const organizationId = await scenario.end(START, { count: 3 })
    const { usage } = openStores(scenario.table)
    async function* readEntries(range: Parameters<UsageStore['readEntries']>[0]) {
      for await (const { entries, until } of usage.readEntries(range)) {
        for (const entry of entries) yield { entries: [entry], until: entry.at }
        yield { entries: [], until }
      }
    }
    await scenario.fold(START + DAY, { usage: { ...usage, readEntries } })
    expect(await scenario.runs(organizationId, 'minute', START)).toBe(3)
  })

  it('adds up all organizations, of which it writes 25 at a time', async () => {
    const scenario = new Scenario()
    for (let i = 0; i < 27; i++) await scenario.end(START)
    await scenario.fold(START + DAY)
    expect(await scenario.runs(DEPLOYMENT, 'hour', START)).toBe(27)
  })

  it('reads what is not final twice in a process: an entry can reach the index late', async () => {
    const scenario = new Scenario()
    const minute = START + 5 * MINUTE
    const organizationId = await scenario.end(minute)
    const memory = newFoldMemory()
    await scenario.fold(minute + MINUTE, { memory })
    for (const [sweep, counted] of [
      [2, [2, 1]],
      [3, [2, 2]],
    ] as const) {
      for (const at of [minute, minute + MINUTE]) await scenario.end(at, { organizationId })
      await scenario.fold(minute + sweep * MINUTE, { memory })
      const runsIn = (at: number) => scenario.runs(organizationId, 'minute', at)
      expect([await runsIn(minute), await runsIn(minute + MINUTE)]).toEqual(counted)
    }
    await scenario.fold(minute + 3 * MINUTE)
    expect(await scenario.runs(organizationId, 'minute', minute)).toBe(3)
  })

  it('adds minutes up to hours and hours to days', async () => {
    const scenario = new Scenario()
    const organizations = [await scenario.end(START), await scenario.end(START)]
    for (const organizationId of organizations)
      for (const at of [1, 59, 60, 61, 23 * 60, 24 * 60 - 1, 24 * 60])
        await scenario.end(START + at * MINUTE + (MINUTE - 1), { organizationId })
    const now = START + DAY + 20 * MINUTE
    await scenario.fold(now)
    const position = { minute: now - FOLD_DELAY_MS, hour: START + DAY, day: START + DAY }
    expect(await scenario.expectComplete()).toEqual(position)
    for (const organizationId of organizations) {
      expect(await scenario.runs(organizationId, 'hour', START)).toBe(3)
      expect(await scenario.runs(organizationId, 'hour', START + HOUR)).toBe(2)
      expect(await scenario.runs(organizationId, 'day', START)).toBe(7)
      expect(await scenario.runs(organizationId, 'day', START + DAY)).toBe(0)
    }
    expect(await scenario.runs(DEPLOYMENT, 'hour', START)).toBe(6)
    expect(await scenario.runs(DEPLOYMENT, 'day', START)).toBe(14)
  })

  it('continues after an outage of days, in as many sweeps as it takes', async () => {
    const scenario = new Scenario()
    const organizationId = await scenario.end(START + 7 * HOUR)
    await scenario.fold(START + 7 * HOUR + 10 * MINUTE)
    for (const hours of [8, 9, 30, 31])
      await scenario.end(START + hours * HOUR + 12_345, { organizationId, count: 2 })
    const back = START + 2 * DAY + HOUR
    // Each look at the clock takes five seconds.
    let sweeps = 0
    for (let position = null as Awaited<ReturnType<Scenario['expectComplete']>>; ; sweeps++) {
      let now = back + sweeps * MINUTE
      const { usage } = openStores(scenario.table)
      await foldUsage({ usage, system: { now: () => (now += 5_000) }, memory: newFoldMemory() })
      const before = position
      position = await scenario.expectComplete()
      expect(position).not.toEqual(before)
      if (position?.day === START + 2 * DAY) break
    }
    expect(sweeps).toBeGreaterThan(5)
    for (let day = 0; day < 2; day++)
      expect(await scenario.runs(organizationId, 'day', START + day * DAY)).toBe([5, 4][day])
  })

  it('completes what a sweep left that died before or after any of its requests', async () => {
    const scenario = new Scenario()
    const { usage } = openStores(scenario.table)
    let hasDied = true
    let requests = 0
    for (; hasDied; requests += STEP) {
      const at = START + requests * DAY
      await usage.setPosition({ position: { minute: at + DAY - 2 * MINUTE, hour: at + DAY - HOUR, day: at } })
      scenario.ended.length = 0
      for (const organizationId of [await scenario.end(at + DAY - 1), await scenario.end(at + DAY - MINUTE)])
        for (const before of [MINUTE + 1, 1]) await scenario.end(at + DAY - before, { organizationId })
      const now = at + DAY + FOLD_DELAY_MS + MINUTE
      hasDied = await scenario.fold(now, { table: dyingTable(scenario.table, requests) }).then(
        () => false,
        (error: unknown) => {
          if (!(error instanceof Died)) throw error
          return true
        },
      )
      await scenario.expectComplete(at)
      await scenario.fold(now)
      expect((await scenario.expectComplete(at))?.day).toBe(at + DAY)
    }
    expect(requests).toBeGreaterThan(50)
  })

  it('counts the same when it is repeated, and when several sweeps run at once', async () => {
    const scenario = new Scenario()
    const { table } = scenario
    const organizationId = await scenario.end(START, { count: 30 })
    for (let minute = 1; minute <= 70; minute += 3)
      await scenario.end(START + minute * MINUTE, { organizationId })
    const { usage } = openStores(table)
    const random = seededRandom(readSeed(), 'fold')
    /** The pages that a sweep has read, and the writes, wait for a moment of its own. */
    const slow = (): UsageStore => ({
      ...usage,
      async *readEntries(params) {
        for await (const page of usage.readEntries(params)) {
          await new Promise((resolve) => setTimeout(resolve, random.between(0, 20)))
          yield page
        }
      },
      async put(params) {
        await new Promise((resolve) => setTimeout(resolve, random.between(0, 20)))
        await usage.put(params)
      },
    })
    for (const minutes of [7, 8, 40, 90]) {
      const now = START + minutes * MINUTE
      await Promise.all(Array.from({ length: 4 }, () => scenario.fold(now, { usage: slow() })))
      await scenario.expectComplete()
      await scenario.fold(now)
      await scenario.expectComplete()
    }
    expect(await scenario.runs(organizationId, 'hour', START)).toBe(50)
  })

  it('keeps what was deleted before it was counted, also from a sweep that was stopped for long', async () => {
    const scenario = new Scenario()
    const { table } = scenario
    const organizationId = await scenario.end(START, { count: 3 })
    const { usage, executions } = openStores(table)
    const page = { organizationId, agentId: null, status: null, tenantId: null, limit: 10, after: null }
    // One stays, with which the other sweep replaces the totals.
    for (const { id } of (await executions.list(page)).items.slice(1))
      await executions.delete({ organizationId, id, now: START + MINUTE })
    const cleanAt = (now: number) => runCleanups({ executions, system: { ...system, now: () => now } })
    await cleanAt(START + DAY)
    const stopping = Promise.withResolvers<void>()
    const resuming = Promise.withResolvers<void>()
    const readEntries: typeof usage.readEntries = async function* (params) {
      if (params.from > 0) {
        stopping.resolve()
        await resuming.promise
      }
      yield* usage.readEntries(params)
    }
    const late = scenario.fold(START + DAY, { usage: { ...usage, readEntries } })
    await stopping.promise
    await scenario.fold(START + DAY - HOUR)
    await cleanAt(START + 2 * DAY)
    const left = []
    for await (const { entries } of usage.readEntries({ from: 0, before: START + DAY })) left.push(...entries)
    expect(left).toHaveLength(1)
    resuming.resolve()
    await late
    await scenario.expectComplete()
    expect(await scenario.runs(organizationId, 'minute', START)).toBe(3)
    expect(await scenario.runs(organizationId, 'hour', START)).toBe(3)
  })

  it('moves on only after what was throttled is stored', async () => {
    const scenario = new Scenario()
    const { table } = scenario
    for (let i = 0; i < 5; i++) await scenario.end(START + i * 10 * MINUTE)
    let requests = 0
    /** One of five requests, and for as long as `isDown`, every one. */
    let isDown = false
    const throttle = <P extends unknown[], T>(request: (...params: P) => Promise<T>) => {
      return async (...params: P) => {
        if (isDown || requests++ % 5 === 0) throw new Unavailable(new Error('throttled'))
        return request(...params)
      }
    }
    const throttled = { ...table, put: throttle(table.put), query: throttle(table.query) }
    const now = START + HOUR + FOLD_DELAY_MS
    isDown = true
    // The writes are repeated for seconds.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const refused = expect(scenario.fold(now, { table: throttled })).rejects.toBeInstanceOf(Unavailable)
    await vi.advanceTimersByTimeAsync(60_000)
    vi.useRealTimers()
    await refused
    expect(await openStores(table).usage.getPosition()).toBeNull()
    isDown = false
    await scenario.fold(now, { table: throttled })
    expect((await scenario.expectComplete())?.hour).toBe(START + HOUR)
  })
})
