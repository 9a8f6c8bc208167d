import { describe, expect, it } from 'vitest'
import { median, percentile, ratioOf, spreadOf } from '../../bench/statistics.ts'

describe('percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => 100 - i)

  it('is a value that was measured, by nearest rank', () => {
    expect(percentile(hundred, 0.5)).toBe(50)
    expect(percentile(hundred, 0.99)).toBe(99)
    expect(percentile(hundred, 1)).toBe(100)
    expect(percentile([7], 0.01)).toBe(7)
  })

  it('sorts by size and leaves the list as it was', () => {
    const values = [10, 9, 100]
    expect(percentile(values, 0.5)).toBe(10)
    expect(values).toEqual([10, 9, 100])
  })

  it('refuses to say something of nothing', () => {
    expect(() => percentile([], 0.5)).toThrow('nothing')
    expect(() => median([])).toThrow('nothing')
  })
})

describe('spreadOf', () => {
  it('gives the median, of an even number the mean of the middle two, and both ends', () => {
    expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4 })
    expect(spreadOf([5, 1, 3])).toEqual({ median: 3, min: 1, max: 5 })
  })
})

describe('ratioOf', () => {
  it('compares within a round, so that a round that was slow for both changes nothing', () => {
    expect(ratioOf([2, 20, 4], [1, 10, 2])).toEqual({ median: 2, min: 2, max: 2 })
  })

  it('refuses rounds that only one took part in', () => {
    expect(() => ratioOf([1, 2], [1])).toThrow('both')
  })
})
