import { describe, expect, it } from 'vitest'
import { breakingPoint, firstToBreak, unitsPerRun } from '../../../../bench/keys/hot-keys.ts'
import { PAYLOAD_SIZES } from '../../../../bench/keys/payloads.ts'
import type { RunKind } from '../../../../bench/keys/run-walker.ts'
import { findScenario, type Scenario, simulate } from '../../../../bench/keys/workload.ts'

/** A multiple of all numbers of shards. */
const SAMPLE = { runs: 960, seed: 1 }

describe('simulate', () => {
  it.each([
    ['hot agent', 'sync', 4_000, 1.5],
    ['hot agent', 'sync', 15_000, 2.8],
    ['hot agent', 'async', 4_000, 1.5],
    ['hot agent', 'async', 15_000, 3],
    ['even', 'model', 4_000, 1.5],
    ['even', 'model', 15_000, 2.6],
    ['hot cached result', 'cached', 4_000, 1.7],
    ['hot cached result', 'cached', 15_000, 3.7],
  ] as const)(
    'a %s %s run with %i bytes in and out writes %f times the units of 100 bytes at most',
    async (name, kind, payloadBytes, multiple) => {
      const scenario = { ...findScenario(name, kind), tenants: null }
      const [small, large] = [await totalUnits(scenario), await totalUnits(scenario, payloadBytes)]
      expect(large.writes / small.writes).toBeLessThanOrEqual(multiple)
      expect(large.writes).toBeGreaterThan(small.writes)
    },
  )

  it.each([
    ['sync', { reads: 0, writes: 7 }],
    ['async', { reads: 1, writes: 8 }],
  ] as const)('makes the writes and reads of a %s run with a warm process', async (kind, expected) => {
    const units = await totalUnits({ ...findScenario('hot agent', kind), tenants: null })
    expect(units.writes).toBe(expected.writes)
    // A process that gets a run of the agent every 100 ms reads the agent once per second.
    expect(units.reads - expected.reads).toBeLessThan(0.25)
    expect(units.reads - expected.reads).toBeGreaterThan(0.1)
  })
})

async function totalUnits(scenario: Scenario, payloadBytes: number = PAYLOAD_SIZES[0]) {
  const units = [...unitsPerRun(await simulate(scenario, { ...SAMPLE, payloadBytes })).values()]
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

describe('unitsPerRun', () => {
  it('writes one unit to the index for a run, of whatever kind', async () => {
    for (const kind of ['sync', 'async', 'model', 'sleeping', 'cached'] as const) {
      const units = unitsPerRun(await sample(kind === 'cached' ? 'hot cached result' : 'even', kind))
      expect(units.get('usage-entries')?.writes).toBe(1)
    }
  })
})
