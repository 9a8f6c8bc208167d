import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { bootstrapMeans, quantile } from '../../lib/core/bootstrap.ts'
import { sha256 } from '../../lib/core/json/hash-json.ts'

/** What `scipy.stats.bootstrap` says. `error`: the standard error of the mean. */
type Reference = { name: string; values: number[]; mean: number; low: number; high: number; error: number }

const references = JSON.parse(
  readFileSync(new URL('../fixtures/bootstrap/reference.json', import.meta.url), 'utf8'),
) as Reference[]

const SEEDS = Array.from({ length: 20 }, (_, index) => sha256(String(index)).slice(0, 32))

describe('bootstrapMeans', () => {
  it.each(references)('agrees with scipy on $name', ({ values, mean, low, high, error }) => {
    const ends = { low: 0, high: 0 }
    for (const seed of SEEDS) {
      const { found } = bootstrapMeans({ found: values }, seed)
      expect(found.mean).toBeCloseTo(mean, 4)
      expect(Math.abs(found.low - low) / error).toBeLessThan(0.35)
      expect(Math.abs(found.high - high) / error).toBeLessThan(0.35)
      ends.low += found.low / SEEDS.length
      ends.high += found.high / SEEDS.length
    }
    // Without the chance of a seed. The means of a few different values have steps.
    const max = new Set(values).size > 5 ? 0.06 : 0.25
    expect(Math.abs(ends.low - low) / error).toBeLessThan(max)
    expect(Math.abs(ends.high - high) / error).toBeLessThan(max)
  })

  it('resamples all measures together', () => {
    const values = references[0]?.values ?? []
    const { one, other, both } = bootstrapMeans(
      { one: values, other: values, both: values.map((value) => 2 * value) },
      SEEDS[0] as string,
    )
    expect(other).toEqual(one)
    expect(both.low).toBeCloseTo(2 * one.low, 5)
  })

  it('of one value, and of equal values, has no width', () => {
    expect(bootstrapMeans({ a: [0.3], b: [-0.2] }, SEEDS[0] as string)).toEqual({
      a: { mean: 0.3, low: 0.3, high: 0.3 },
      b: { mean: -0.2, low: -0.2, high: -0.2 },
    })
  })
})

describe('quantile', () => {
  it('is between the nearest values, and 0 without any', () => {
    expect([quantile([1, 2, 4], 0.5), quantile([1, 2, 4], 0.75), quantile([], 0.5)]).toEqual([2, 3, 0])
  })
})
