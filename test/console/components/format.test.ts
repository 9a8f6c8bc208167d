import { describe, expect, it } from 'vitest'
import {
  formatBytes,
  formatCost,
  formatCountOf,
  formatDay,
  formatDuration,
  formatExactTime,
  formatMinute,
  formatPercent,
  formatSeconds,
  formatTime,
  shortId,
} from '../../../console/components/format.ts'

describe('formatDuration', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [999.6, '1.00 s'],
    [1_000, '1.00 s'],
    [1_050, '1.05 s'],
    [1_236, '1.24 s'],
    [9_996, '10.0 s'],
    [12_340, '12.3 s'],
    [59_940, '59.9 s'],
    [59_990, '1 min'],
    [125_000, '2 min 5 s'],
    [3_599_600, '1 h'],
    [11_040_000, '3 h 4 min'],
    [183_600_000, '2 d 3 h'],
  ])('%i ms', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })

  it('never shows 60 of a unit', () => {
    for (let ms = 50_000; ms < 100_000_000; ms += 9_973)
      expect(formatDuration(ms)).not.toMatch(/\b60 (s|min)/)
  })
})

describe('formatSeconds', () => {
  it.each([
    [0, '0 s'],
    [1_400, '1 s'],
    [59_400, '59 s'],
    [61_000, '1 min 1 s'],
  ])('%i ms', (ms, text) => {
    expect(formatSeconds(ms)).toBe(text)
  })
})

describe('formatExactTime', () => {
  it('is the local time with its zone, and the time in UTC', () => {
    const text = formatExactTime('2026-11-22T15:04:05.006Z')
    expect(text.split('\n').at(-1)).toBe('22 Nov 2026, 15:04:05.006 UTC')
    expect(text.split('\n').length).toBe(new Date().getTimezoneOffset() === 0 ? 1 : 2)
  })

  it('is the text itself if that is no time', () => {
    expect(formatExactTime('soon')).toBe('soon')
  })
})

describe('formatCost', () => {
  it.each([
    [0, '$0'],
    [0.000_000_42, '$0.00000042'],
    [0.000_4, '$0.0004'],
    [0.009_99, '$0.01'],
    [0.0123, '$0.01'],
    [12.345, '$12.35'],
    [2_920.6, '$2,920.60'],
  ])('%f', (usd, text) => {
    expect(formatCost(usd)).toBe(text)
  })
})

it('formatCountOf has one run, and several runs', () => {
  expect([0, 1, 12_345].map((count) => formatCountOf(count, 'run'))).toEqual([
    '0 runs',
    '1 run',
    '12,345 runs',
  ])
  expect([1, 2].map((count) => formatCountOf(count, 'batch', 'batches'))).toEqual(['1 batch', '2 batches'])
})

it('formatDay is the day in UTC', () => {
  expect(formatDay(Date.parse('2026-11-25T23:59:59Z'))).toMatch(/25/)
})

it('formatMinute has the day only of other days', () => {
  const now = new Date(2026, 10, 25, 20, 5, 30).getTime()
  expect(formatMinute(now, now)).not.toMatch(/30|25/)
  expect(formatMinute(now - 24 * 3_600_000, now)).toMatch(/24/)
})

describe('formatPercent', () => {
  it.each([
    [0, '0%'],
    [0.001, '< 1%'],
    [0.42, '42%'],
    [0.999, '> 99%'],
    [1, '100%'],
  ])('%f', (ratio, text) => {
    expect(formatPercent(ratio)).toBe(text)
  })
})

describe('formatTime', () => {
  const now = new Date(2026, 10, 22, 15, 0)
  const at = (...parts: [number, number, number, number]) => formatTime(new Date(...parts).toISOString(), now)

  it('is the time alone for today, with the day in this year, and with the year in others', () => {
    expect(at(2026, 10, 22, 9)).not.toMatch(/22|2026/)
    expect(at(2026, 10, 21, 9)).toMatch(/21/)
    expect(at(2026, 10, 21, 9)).not.toMatch(/2026/)
    expect(at(2025, 10, 22, 9)).toMatch(/2025/)
  })

  it('is the text itself if that is no time', () => {
    expect(formatTime('soon')).toBe('soon')
  })
})

it('formatBytes', () => {
  expect([999, 1_500, 5_100_000].map(formatBytes)).toEqual(['999 B', '1.5 kB', '5.1 MB'])
})

it('shortId tells two executions of the same second apart', () => {
  expect(shortId('01a203b0-f59e-76de-a43c-5ed66ba796e1')).toBe('01a203b0…96e1')
})
