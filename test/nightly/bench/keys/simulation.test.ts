import { describe, expect, it } from 'vitest'
import { BATCH_SCENARIOS, simulateBatches } from '../../../../bench/keys/batches.ts'
import { breakingPoint, firstToBreak, unitsPerRun } from '../../../../bench/keys/hot-keys.ts'
import type { RunKind } from '../../../../bench/keys/run-walker.ts'
import { sizeRows } from '../../../../bench/keys/size-rows.ts'
import { FOLD_SCENARIOS, simulateFold } from '../../../../bench/keys/usage.ts'
import { findScenario, type Scenario, simulate } from '../../../../bench/keys/workload.ts'
import { LANE_SHARDS } from '../../../../lib/dynamodb/table/keys.ts'

/** A multiple of all numbers of shards. */
const SAMPLE = { runs: 960, seed: 1 }

describe('sizeRows', () => {
  it.each([
    ['sync', '4,000', 1.5],
    ['sync', '15,000', 2.6],
    ['async', '4,000', 1.5],
    ['async', '15,000', 2.8],
    ['model', '4,000', 1.5],
    ['model', '15,000', 2.6],
    ['cached', '4,000', 1.7],
    ['cached', '15,000', 3.7],
  ] as const)(
    'a %s run with %s bytes in and out writes %f times the units of 100 bytes at most',
    async (run, bytes, multiple) => {
      rows ??= sizeRows({ seed: 1 })
      const row = (await rows).find((one) => one.run === run && one.bytes === bytes)
      expect(Number(row?.['written, multiple'])).toBeLessThanOrEqual(multiple)
      expect(Number(row?.['written, multiple'])).toBeGreaterThan(1)
    },
  )
  let rows: ReturnType<typeof sizeRows> | undefined
})

describe('simulate', () => {
  it.each([
    ['sync', { reads: 0, writes: 9 }],
    ['async', { reads: 1, writes: 10 }],
  ] as const)('makes the writes and reads of a %s run with a warm process', async (kind, expected) => {
    const units = await totalUnits({ ...findScenario('hot agent', kind), tenants: null })
    expect(units.writes).toBe(expected.writes)
    // A process that gets a run of the agent every 100 ms reads the agent once per second.
    expect(units.reads - expected.reads).toBeLessThan(0.25)
    expect(units.reads - expected.reads).toBeGreaterThan(0.1)
  })
})

async function totalUnits(scenario: Scenario) {
  const units = [...unitsPerRun(await simulate(scenario, SAMPLE)).values()]
  const sum = (unit: 'reads' | 'writes') => units.reduce((total, one) => total + one[unit], 0)
  return { reads: sum('reads'), writes: sum('writes') }
}

const sample = (name: string, kind: RunKind) => simulate(findScenario(name, kind), SAMPLE)

describe('firstToBreak', () => {
  it.each([
    ['even', 'async', 16_000],
    ['single agent', 'sync', 8_000],
    ['even', 'model', 4_000],
  ] as const)('is reached by runs (%s, %s) at no less than %i per second', async (name, kind, rate) => {
    expect(breakingPoint(firstToBreak(await sample(name, kind)))).toBeGreaterThanOrEqual(rate)
  })
})

describe('simulateBatches', () => {
  it.each(BATCH_SCENARIOS)(
    'finds no key of 200 write units at 1,000 lines per second: $name',
    async (scenario) => {
      const keys = await simulateBatches(scenario)
      expect(keys.map(({ resource }) => resource)).toContain('open-executions')
      for (const { perRun } of keys) expect(1_000 * perRun).toBeLessThanOrEqual(200)
      // The lanes, which no other run has.
      const lanes = keys.find(({ resource }) => resource === 'table')
      expect(lanes?.key).toMatch(/#LANES#/)
      expect(lanes?.perRun).toBeCloseTo(1 / LANE_SHARDS / scenario.batches, 2)
    },
  )
})

describe('simulateFold', () => {
  it.each(FOLD_SCENARIOS)('keeps up with 10,000 runs per second: $name', async (scenario) => {
    const share = 0.1
    const minute = await simulateFold(scenario, { share })
    expect(scenario.runsPerSecond).toBe(10_000)
    expect(minute.entries).toBeGreaterThanOrEqual(60 * scenario.runsPerSecond * share)
    // The position, a page each, an item or two of each organization, and chunks of large ones.
    expect(minute.requests).toBeLessThanOrEqual(minute.pages + 2 * scenario.organizations + 10)
    // A partition takes 1,000 in a second, and the totals of a minute could all be written in one.
    expect(minute.hottestUnits).toBeLessThan(1_000)
    expect(minute.indexUnits).toBeLessThan(1_000)
    // A sweep has a processor of its own, for a minute.
    expect(minute.seconds).toBeLessThan(60)
  })

  it('writes one unit to the index for a run, of whatever kind', async () => {
    for (const kind of ['sync', 'async', 'model', 'sleeping', 'cached'] as const) {
      const units = unitsPerRun(await sample(kind === 'cached' ? 'hot cached result' : 'even', kind))
      expect(units.get('usage-entries')?.writes).toBe(1)
    }
  })
})
