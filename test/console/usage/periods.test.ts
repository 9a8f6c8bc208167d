import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePeriod, partsOf, startOfPeriod, toUsageQuery } from '../../../console/usage/periods.ts'

const NOW = Date.parse('2026-11-25T20:05:30.000Z')
const PERIODS = ['1h', '24h', '7d', '30d'] as const
const at = (start: string) => ({ start })

describe('startOfPeriod', () => {
  it.each([
    ['1h', '2026-11-25T19:06:00.000Z'],
    ['24h', '2026-11-24T21:00:00.000Z'],
    ['7d', '2026-11-19T00:00:00.000Z'],
    ['30d', '2026-10-27T00:00:00.000Z'],
  ] as const)('of %s is a whole minute, hour or day', (period, start) => {
    expect(new Date(startOfPeriod(period, NOW)).toISOString()).toBe(start)
  })
})

describe('partsOf', () => {
  it.each([
    ['1h', 60],
    ['24h', 24],
    ['7d', 42],
    ['30d', 30],
  ] as const)('%s ends with the part that contains now', (period, max) => {
    const parts = partsOf(period, NOW, [])
    expect(parts.length).toBe(max)
    expect(parts[0]?.from).toBe(startOfPeriod(period, NOW))
    const last = parts.at(-1)
    expect(last && last.from <= NOW && NOW < last.to).toBe(true)
  })

  it('has no parts in the future', () => {
    const morning = Date.parse('2026-11-25T01:00:00.000Z')
    expect(partsOf('7d', morning, []).length).toBe(37)
  })

  it('shows an outage as parts without rows', () => {
    const rows = [at('2026-11-25T19:10:00Z'), at('2026-11-25T19:50:00Z'), at('2026-11-25T20:05:00Z')]
    const counts = partsOf('1h', NOW, rows).map((part) => part.rows.length)
    expect(counts.map((count, index) => (count > 0 ? index : -1)).filter((index) => index >= 0)).toEqual([
      4, 44, 59,
    ])
  })

  it('puts the rows of a service whose clock is ahead into the last part', () => {
    expect(partsOf('1h', NOW, [at('2026-11-25T20:09:00Z')]).at(-1)?.rows.length).toBe(1)
  })

  it('contains each row once, in the part of its time', () => {
    const ages = fc.array(fc.integer({ min: 0, max: 3_600_000 * 24 * 40 }))
    fc.assert(
      fc.property(ages, fc.constantFrom(...PERIODS), (each, period) => {
        const start = startOfPeriod(period, NOW)
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

describe('toUsageQuery', () => {
  it('asks for minutes of an hour, and for days of a month', () => {
    expect(toUsageQuery('1h', NOW, {})).toEqual({ from: '2026-11-25T19:06:00.000Z', interval: 'minute' })
    expect(toUsageQuery('30d', NOW, { tenantId: 'acme' })).toMatchObject({
      interval: 'day',
      tenantId: 'acme',
    })
  })

  it('of groups in a week asks for days, in the same time', () => {
    const [all, grouped] = [toUsageQuery('7d', NOW, {}), toUsageQuery('7d', NOW, { groupBy: 'agent' })]
    expect([all.interval, grouped.interval]).toEqual(['hour', 'day'])
    expect(grouped.from).toBe(all.from)
  })
})

it('parsePeriod takes a day for what it does not know', () => {
  const parsed = ['period=7d', 'period=2y', 'period=toString', ''].map((text) =>
    parsePeriod(new URLSearchParams(text)),
  )
  expect(parsed).toEqual(['7d', '24h', '24h', '24h'])
})
