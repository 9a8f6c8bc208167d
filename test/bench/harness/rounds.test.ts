import { describe, expect, it } from 'vitest'
import { median, percentile, toRatio, toSpread } from '../../../bench/harness/rounds.ts'

describe('percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => 100 - i)

  it('returns a measured value, by nearest rank', () => {
    expect(percentile(hundred, 0.5)).toBe(50)
    expect(percentile(hundred, 0.99)).toBe(99)
    expect(percentile(hundred, 1)).toBe(100)
    expect(percentile([7], 0.01)).toBe(7)
  })

  it('sorts by value and does not change the list', () => {
    const values = [10, 9, 100]
    expect(percentile(values, 0.5)).toBe(10)
    expect(values).toEqual([10, 9, 100])
  })

  it('throws for an empty list', () => {
    expect(() => percentile([], 0.5)).toThrow('empty list')
    expect(() => median([])).toThrow('empty list')
  })
})

describe('toSpread', () => {
  it('returns the median, for an even number the mean of the middle two, and both ends', () => {
    expect(toSpread([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4 })
    expect(toSpread([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5 })
  })
})

describe('toRatio', () => {
  it('compares within a round: a round that was slow for both sides does not count', () => {
    expect(toRatio([2, 20, 4], [1, 10, 2])).toEqual({ median: 2, min: 2, max: 2 })
  })

  it('throws when one side has fewer rounds', () => {
    expect(() => toRatio([1, 2], [1])).toThrow('Both sides')
  })
})
