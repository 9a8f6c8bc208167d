import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bucketByTime,
  countFailures,
  histogram,
  percentile,
  sumUp,
  sumUpByAgent,
} from '../../../console/overview/statistics.ts'
import { anExecutionRecord } from '../../browser/stub/records.ts'

const failed = (number: number, code: string) =>
  anExecutionRecord(number, { status: 'ERROR', error: { code, message: '' } })

describe('sumUp', () => {
  it('counts what was spent once: a cached result costs nothing', () => {
    const original = anExecutionRecord(1)
    const cached = anExecutionRecord(2, { cached: true })
    const unpriced = anExecutionRecord(3, { costUsd: null })
    expect(sumUp([original, cached, unpriced])).toEqual({
      ...{ runs: 3, succeeded: 3, failed: 0, cached: 1, unpriced: 1 },
      ...{ inputTokens: 2_400, outputTokens: 170, costUsd: original.costUsd },
    })
  })

  it('is grouped by agent, most runs first', () => {
    const other = anExecutionRecord(3, { documentId: 'other' })
    const [first, second] = sumUpByAgent([other, anExecutionRecord(1), failed(2, 'AgentFailed')])
    expect([first?.runs, first?.failed, first?.medianMs]).toEqual([2, 1, 500])
    expect(second?.agentId).toBe('other')
  })
})

it('countFailures sorts codes by how often they occur', () => {
  const runs = [
    failed(1, 'TimedOut'),
    failed(2, 'AgentFailed'),
    anExecutionRecord(3),
    failed(4, 'AgentFailed'),
  ]
  expect(countFailures(runs)).toEqual([
    { code: 'AgentFailed', count: 2 },
    { code: 'TimedOut', count: 1 },
  ])
})

describe('percentile', () => {
  it('is a value of the list', () => {
    expect(percentile([], 0.5)).toBeNull()
    expect(percentile([7], 0.99)).toBe(7)
    expect([0.5, 0.9, 1].map((part) => percentile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], part))).toEqual([5, 9, 10])
  })
})

describe('bucketByTime', () => {
  it('puts every item into the part that contains its time', () => {
    const times = fc.array(fc.integer({ min: 0, max: 4_102_444_800_000 }), { minLength: 1 })
    fc.assert(
      fc.property(times, (items) => {
        const buckets = bucketByTime(items, (time) => time, 40)
        expect(buckets.length).toBeLessThanOrEqual(41)
        expect(buckets.flatMap((bucket) => bucket.items).sort()).toEqual(items.sort())
        for (const { from, to, items: own } of buckets)
          expect(own.every((time) => time >= from && time < to)).toBe(true)
      }),
    )
  })

  it('has parts of a round length', () => {
    const start = Date.parse('2026-11-22T12:00:00Z')
    const [bucket] = bucketByTime([start + 1_500, start + 3_600_000], (time) => time, 30)
    expect([bucket?.from, bucket?.to]).toEqual([start, start + 5 * 60_000])
  })
})

it('histogram counts every duration once', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1e9 })), (durations) => {
      const buckets = histogram(durations)
      expect(buckets.flatMap(({ items }) => items).length).toBe(durations.length)
      for (const end of [buckets[0], buckets.at(-1)]) if (end) expect(end.items.length).toBeGreaterThan(0)
    }),
  )
})
