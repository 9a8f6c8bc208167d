import { describe, expect, it } from 'vitest'
import { DEPLOYMENT, INTERVAL_MS } from '../../../lib/core/usage.ts'
import { openDailyCost } from '../../../lib/engine/usage/daily-cost.ts'
import { aUsageRow, memoryUsage } from '../../support/usage/memory-usage.ts'

const HOUR = Date.parse('2026-11-25T10:00:00Z')

/** @param costs in dollars, by the age of the hour in hours: 1 is the last full one */
function withCosts(costs: Record<number, number>) {
  const position = { minute: HOUR + 30 * INTERVAL_MS.minute, hour: HOUR, day: HOUR - 10 * INTERVAL_MS.hour }
  const usage = memoryUsage(position)
  for (const [age, usd] of Object.entries(costs))
    usage.put(DEPLOYMENT, 'hour', HOUR - Number(age) * INTERVAL_MS.hour, [
      aUsageRow({ costNanoUsd: usd * 1e9 }),
    ])
  return { usage, position, read: openDailyCost({ usage }) }
}

describe('openDailyCost', () => {
  it('compares the last 24 full hours with the days before', async () => {
    const costs = { 1: 5, 24: 5, 25: 2, 48: 4, [7 * 24 + 1]: 1, [8 * 24]: 7, [8 * 24 + 1]: 1_000 }
    expect(await withCosts(costs).read()).toEqual({ lastDay: 10, usual: (2 + 4 + 1 + 7) / 7 })
  })

  it('leaves out the time before the first run', async () => {
    const usual = 6 / ((100 - 24) / 24)
    expect(await withCosts({ 1: 10, 25: 2, 100: 4 }).read()).toEqual({ lastDay: 10, usual })
  })

  it('knows no usual cost in the first 48 hours', async () => {
    expect(await withCosts({}).read()).toEqual({ lastDay: 0, usual: null })
    expect(await withCosts({ 1: 10 }).read()).toEqual({ lastDay: 10, usual: null })
    // The runs of every hour cost the same.
    const steady = (hours: number) =>
      withCosts(Object.fromEntries(Array.from({ length: hours }, (_, index) => [index + 1, 2]))).read()
    expect(await steady(47)).toEqual({ lastDay: 48, usual: null })
    for (const hours of [48, 50, 75, 300]) expect(await steady(hours)).toEqual({ lastDay: 48, usual: 48 })
  })

  it('counts a week without runs if there were any before', async () => {
    const { read, usage } = withCosts({ 1: 10 })
    usage.put(DEPLOYMENT, 'day', Date.parse('2026-11-17T00:00:00Z'), [])
    expect(await read()).toEqual({ lastDay: 10, usual: null })
    const again = withCosts({ 1: 10 })
    again.usage.put(DEPLOYMENT, 'day', Date.parse('2026-11-16T00:00:00Z'), [])
    expect(await again.read()).toEqual({ lastDay: 10, usual: 0 })
  })

  it('knows nothing before the first full hour', async () => {
    expect(await openDailyCost({ usage: memoryUsage() })()).toBeNull()
  })

  it('reads the hours when one more is final', async () => {
    const { read, usage, position } = withCosts({ 1: 10, 24: 3, 48: 1 })
    const reads = () => usage.reads.filter(({ interval }) => interval === 'hour')
    await read()
    await read()
    expect(reads()).toHaveLength(1)
    position.hour += INTERVAL_MS.hour
    expect(await read()).toEqual({ lastDay: 10, usual: 4 / (25 / 24) })
    expect(reads()).toHaveLength(2)
  })
})
