import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  describeSpan,
  parsePeriod,
  partsOf,
  spanOf,
  toSpark,
  toUsageQuery,
} from '../../../console/usage/periods.ts'
import { addUp, addUpBy, averageRunTime, countErrors } from '../../../console/usage/totals.ts'
import { aUsageRow } from '../../browser/stub/records.ts'

const NOW = Date.parse('2026-11-25T20:05:30.000Z')
const PERIODS = ['1h', '24h', '7d', '30d', 'month'] as const
const at = (start: string) => ({ start })

describe('partsOf', () => {
  it.each([
    ['1h', 60, '2026-11-25T19:06:00.000Z'],
    ['24h', 24, '2026-11-24T21:00:00.000Z'],
    ['7d', 42, '2026-11-19T00:00:00.000Z'],
    ['30d', 30, '2026-10-27T00:00:00.000Z'],
    ['month', 25, '2026-11-01T00:00:00.000Z'],
  ] as const)('%s begins with a whole minute, hour or day, and ends with now', (period, count, start) => {
    const parts = partsOf(period, NOW, [])
    expect(parts.length).toBe(count)
    expect(parts[0]?.from).toBe(spanOf(period, NOW).from)
    expect(spanOf(period, NOW).from).toBe(Date.parse(start))
    const last = parts.at(-1)
    expect(last && last.from <= NOW && NOW < last.to).toBe(true)
  })

  it('has no parts in the future', () => {
    expect(partsOf('7d', Date.parse('2026-11-25T01:00:00.000Z'), []).length).toBe(37)
  })

  it('puts the rows of a service whose clock is ahead into the last part', () => {
    expect(partsOf('1h', NOW, [at('2026-11-25T20:09:00Z')]).at(-1)?.rows.length).toBe(1)
  })

  it('contains each row once, in the part of its time', () => {
    const ages = fc.array(fc.integer({ min: 0, max: 3_600_000 * 24 * 40 }))
    fc.assert(
      fc.property(ages, fc.constantFrom(...PERIODS), (each, period) => {
        const start = spanOf(period, NOW).from
        const rows = each
          .map((age) => NOW - age)
          .filter((time) => time >= start)
          .map((time) => at(new Date(time).toISOString()))
        const parts = partsOf(period, NOW, rows)
        expect(parts.flatMap((part) => part.rows).length).toBe(rows.length)
        for (const { from, to, rows: own } of parts)
          expect(own.every((row) => Date.parse(row.start) >= from && Date.parse(row.start) < to)).toBe(true)
      }),
    )
  })
})

describe('the last month', () => {
  it.each([
    ['2026-11-25T20:05:30Z', '2026-10-01', '2026-11-01', 31],
    ['2027-01-01T00:00:00Z', '2026-12-01', '2027-01-01', 31],
    ['2028-03-31T23:59:59Z', '2028-02-01', '2028-03-01', 29],
  ])('at %s begins on %s and ends before %s', (time, from, to, days) => {
    const now = Date.parse(time)
    expect(spanOf('last-month', now)).toEqual({ from: Date.parse(from), to: Date.parse(to) })
    const parts = partsOf('last-month', now, [])
    expect([parts.length, parts[0]?.from, parts.at(-1)?.to]).toEqual([days, Date.parse(from), Date.parse(to)])
    expect(toUsageQuery('last-month', now, {})).toMatchObject({ to: `${to}T00:00:00.000Z`, interval: 'day' })
  })

  it('is described with its last day, and a period that goes on with its beginning', () => {
    expect(describeSpan('last-month', NOW)).toMatch(/^from .*Oct.* up to .*31.* \(UTC\)$/)
    expect(describeSpan('month', NOW)).toMatch(/^since .*Nov.* \(UTC\)$/)
  })
})

it('toSpark has a part for each interval that rows of groups have', () => {
  const rows = [aUsageRow({ start: '2026-11-25T00:00:00Z', runs: 5, errors: { AgentFailed: 2 } })]
  const spark = toSpark('7d', NOW, rows)
  expect([spark.length, spark.at(-1), spark[0]]).toEqual([7, [3, 2], [0, 0]])
})

it('toUsageQuery asks for minutes of an hour, and for days of a month and of groups in a week', () => {
  expect(toUsageQuery('1h', NOW, {})).toEqual({ from: '2026-11-25T19:06:00.000Z', interval: 'minute' })
  const ofTenant = toUsageQuery('30d', NOW, { tenantId: 'acme' })
  expect(ofTenant).toMatchObject({ interval: 'day', tenantId: 'acme' })
  const [all, grouped] = [toUsageQuery('7d', NOW, {}), toUsageQuery('7d', NOW, { groupBy: 'agent' })]
  expect([all.interval, grouped.interval]).toEqual(['hour', 'day'])
  expect(toUsageQuery('7d', NOW, { groupBy: 'version' }).interval).toBe('hour')
  expect(grouped.from).toBe(all.from)
})

it('parsePeriod takes a day for what it does not know', () => {
  const parsed = ['7d', 'toString'].map((period) => parsePeriod(new URLSearchParams({ period })))
  expect(parsed).toEqual(['7d', '24h'])
})

it('addUp adds the runs and errors of all intervals', () => {
  const rows = [
    aUsageRow({ runs: 3, errors: { AgentFailed: 1, TimedOut: 1 }, costUsd: 0.5, runTimeMs: 900 }),
    aUsageRow({ runs: 2, cacheHits: 1, errors: {}, costUsd: 0.25, unpricedRuns: 1, runTimeMs: 300 }),
  ]
  expect(addUp(rows)).toMatchObject({
    ...{ runs: 5, failed: 2, cacheHits: 1, costUsd: 0.75, unpricedRuns: 1, runTimeMs: 1_200 },
  })
  expect(new Set(Object.values(addUp([])))).toEqual(new Set([0]))
})

it('addUpBy sorts groups by cost, then by runs', () => {
  const rows = [
    aUsageRow({ tenantId: 'free', runs: 9, costUsd: 0 }),
    aUsageRow({ tenantId: 'acme', runs: 1, costUsd: 1 }),
    aUsageRow({ tenantId: null, runs: 20, costUsd: 0 }),
    aUsageRow({ tenantId: 'globex', runs: 1, costUsd: 2 }),
    aUsageRow({ tenantId: 'acme', runs: 1, costUsd: 3 }),
  ]
  const groups = addUpBy(rows, ({ tenantId }) => tenantId)
  const keys = groups.map(({ key, runs }) => `${key}: ${runs}`)
  expect(keys).toEqual(['acme: 2', 'globex: 1', 'null: 20', 'free: 9'])
})

it('countErrors sorts codes by how often they occur', () => {
  const rows = [
    aUsageRow({ errors: { TimedOut: 2, AgentFailed: 1 } }),
    aUsageRow({ errors: { AgentFailed: 4 } }),
  ]
  expect(countErrors(rows)).toEqual([
    { code: 'AgentFailed', count: 5 },
    { code: 'TimedOut', count: 2 },
  ])
})

it('averageRunTime leaves results from the cache out', () => {
  const average = (runs: number, cacheHits: number) =>
    averageRunTime(addUp([aUsageRow({ runs, cacheHits, runTimeMs: 600 })]))
  expect([average(3, 1), average(1, 1), average(0, 0)]).toEqual([300, null, null])
})
