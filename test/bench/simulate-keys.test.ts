import { describe, expect, it } from 'vitest'
import measured from '../../bench/costs/measured.json' with { type: 'json' }
import type { RunUse } from '../../bench/costs/usage.ts'
import { countsPerRun } from '../../bench/keys/admissions.ts'
import { breakingPoint, firstToBreak, hottestKeys, unitsPerRun } from '../../bench/keys/limits.ts'
import { shareAfterSplit } from '../../bench/keys/partitions.ts'
import { newId, seeded } from '../../bench/keys/population.ts'
import type { RunKind } from '../../bench/keys/runs.ts'
import { SCENARIOS, type Scenario } from '../../bench/keys/scenarios.ts'
import { simulate } from '../../bench/keys/simulate.ts'
import { SHARDS } from '../../lib/dynamodb/keys.ts'

const scenario = (name: string, kind: RunKind): Scenario => {
  const found = SCENARIOS.find((one) => one.name === name && one.kind === kind)
  if (!found) throw new Error(`There is no scenario "${name}" of ${kind} runs.`)
  return found
}
const some = { runs: 1_024, seed: 1 }

describe('simulate', () => {
  it.each([
    ['sync', 'even'],
    ['async', 'even'],
    ['cached', 'hot cached result'],
  ] as const)('counts the units of a %s run that were measured', async (kind, name) => {
    const { functions = [] } = (measured.uses as RunUse[]).find((use) => use.kind === kind) ?? {}
    const places = [...unitsPerRun(await simulate(scenario(name, kind), some)).values()]
    const sum = (unit: 'writes' | 'reads') => places.reduce((total, units) => total + units[unit], 0)
    expect(sum('writes')).toBe(functions.reduce((total, { writeUnits }) => total + writeUnits, 0))
    // Measured with the queries of the cap on open executions, half a unit each, which the stores' walk leaves out.
    const reads = functions.reduce(
      (total, { readUnits, requests }) => total + readUnits - (requests.Query ?? 0) / 2,
      0,
    )
    expect(sum('reads')).toBeCloseTo(reads)
  })

  it('is the same for the same seed, and another for another', async () => {
    const hottest = async (seed: number) =>
      hottestKeys(await simulate(scenario('Zipf', 'sync'), { runs: 256, seed }))
    expect(await hottest(7)).toEqual(await hottest(7))
    expect(await hottest(7)).not.toEqual(await hottest(8))
  })
})

describe('hottestKeys', () => {
  it('gives a shard of a hot organization an eighth of what the organization has', async () => {
    const keys = hottestKeys(await simulate(scenario('hot organization', 'sync'), some))
    const owned = keys.find(({ place }) => place === 'owned-by-organization')
    expect(owned?.share).toBeCloseTo(0.9 / SHARDS, 1)
    // An entry put, and changed when the run ends.
    expect(owned?.perRun).toBeCloseTo(2 * (owned?.share ?? 0))
  })

  it('finds no key that a hot tenant makes hotter than its organization', async () => {
    const [tenant, organization] = await Promise.all(
      ['hot tenant', 'hot organization'].map((name) => simulate(scenario(name, 'async'), some)),
    )
    const perRun = (simulated = tenant) => simulated && firstToBreak(simulated).perRun
    expect(perRun(tenant)).toBe(perRun(organization))
  })
})

describe('firstToBreak', () => {
  it('is the index of all open executions, at a rate that follows from its shards', async () => {
    const even = await simulate(scenario('even', 'async'), some)
    for (const shards of [SHARDS, 32]) {
      const first = firstToBreak(even, () => shards)
      expect(first.place).toBe('open-executions')
      // Put, moved by the claim, deleted: 4 units a run, on as many keys as there are shards.
      expect(breakingPoint(first)).toBeCloseTo((1_000 * shards) / 4)
    }
  })

  it('is one item, which no shards help, when all have one idempotency key', async () => {
    const repeated = await simulate({ ...scenario('hot idempotency key', 'repeated'), shared: 1 }, some)
    for (const shards of [SHARDS, 64]) {
      const first = firstToBreak(repeated, () => shards)
      expect(first.key).toMatch(/^IDEMPOTENCY#/)
      expect(breakingPoint(first)).toBe(1_000)
    }
  })
})

describe('shareAfterSplit', () => {
  it('is all for ids in the order of time, and a half for random ones', () => {
    const random = seeded(1)
    const ids = Array.from({ length: 2_000 }, (_, number) => newId(random, 1e12 + number))
    expect(shareAfterSplit(ids)).toBe(1)
    expect(shareAfterSplit(ids.map((id) => id.slice(-12)))).toBeCloseTo(0.5, 1)
  })
})

describe('countsPerRun', () => {
  it('is one of 50 runs for one organization in a busy process, and most runs for a thousand', async () => {
    const counts = (organizations: number) =>
      countsPerRun({ organizations, skew: 'even', runsASecond: 10 }, 1)
    expect(await counts(1)).toBeCloseTo(0.02)
    expect(await counts(1_000)).toBeGreaterThan(0.8)
  })
})
