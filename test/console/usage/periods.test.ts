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
