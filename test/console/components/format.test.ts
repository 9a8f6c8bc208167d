import { expect, it } from 'vitest'
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
  shorten,
  shortId,
} from '../../../console/components/format.ts'

it.each([
  [999, '999 ms'],
  [999.6, '1.00 s'],
  [9_996, '10.0 s'],
  [59_990, '1 min'],
  [125_000, '2 min 5 s'],
  [3_599_600, '1 h'],
  [11_040_000, '3 h 4 min'],
  [183_600_000, '2 d 3 h'],
])('formatDuration(%d) is %s', (ms, text) => expect(formatDuration(ms)).toBe(text))

it('formatDuration never shows 60 of a unit', () => {
  for (let ms = 50_000; ms < 100_000_000; ms += 9_973) expect(formatDuration(ms)).not.toMatch(/\b60 (s|min)/)
})

it('formatSeconds has no fractions', () => {
  expect([0, 1_400, 61_000].map(formatSeconds)).toEqual(['0 s', '1 s', '1 min 1 s'])
})

it('formatExactTime is the local time with its zone, and the time in UTC', () => {
  const lines = formatExactTime('2026-11-22T15:04:05.006Z').split('\n')
  expect(lines.at(-1)).toBe('22 Nov 2026, 15:04:05.006 UTC')
  expect(lines.length).toBe(new Date().getTimezoneOffset() === 0 ? 1 : 2)
})

it.each([
  [0, '$0'],
  [0.000_000_42, '$0.00000042'],
  [0.009_99, '$0.01'],
  [2_920.6, '$2,920.60'],
])('formatCost(%d) is %s', (usd, text) => expect(formatCost(usd)).toBe(text))

it('formatCountOf has one run, and several runs', () => {
  expect([0, 1, 12_345].map((count) => formatCountOf(count, 'run'))).toEqual([
    '0 runs',
    '1 run',
    '12,345 runs',
  ])
  expect(formatCountOf(2, 'batch', 'batches')).toBe('2 batches')
})

it('formatDay is the day in UTC', () => {
  expect(formatDay(Date.parse('2026-11-25T23:59:59Z'))).toMatch(/25/)
})

it('formatMinute has the day only of other days', () => {
  const now = new Date(2026, 10, 25, 20, 5, 30).getTime()
  expect(formatMinute(now, now)).not.toMatch(/30|25/)
  expect(formatMinute(now - 24 * 3_600_000, now)).toMatch(/24/)
})

it('formatPercent is not 0% of some, and not 100% of most', () => {
  const percents = [0, 0.001, 0.42, 0.999, 1].map(formatPercent)
  expect(percents).toEqual(['0%', '< 1%', '42%', '> 99%', '100%'])
})

it('formatTime is the time alone for today, with the day in this year, and with the year in others', () => {
  const now = new Date(2026, 10, 22, 15, 0)
  const at = (year: number, day: number) => formatTime(new Date(year, 10, day, 9).toISOString(), now)
  expect(at(2026, 22)).not.toMatch(/22|2026/)
  expect(at(2026, 21)).toMatch(/21/)
  expect(at(2026, 21)).not.toMatch(/2026/)
  expect(at(2025, 22)).toMatch(/2025/)
})

it('what is no time is shown as it is', () => {
  expect([formatTime('soon'), formatExactTime('soon')]).toEqual(['soon', 'soon'])
})

it('formatBytes has units of 1,000', () => {
  expect([999, 1_500, 5_100_000].map(formatBytes)).toEqual(['999 B', '1.5 kB', '5.1 MB'])
})

it('shortId tells two executions of the same second apart', () => {
  expect(shortId('01a203b0-f59e-76de-a43c-5ed66ba796e1')).toBe('01a203b0…96e1')
})

it.each([
  ['a family', '👩‍👩‍👧‍👦'],
  ['a flag of a region', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
  ['a letter with marks', 'é̂'],
  ['a pair', '𝒳'],
])('shorten never cuts %s', (_, character) => {
  for (let length = 1; length < character.length; length++)
    expect(shorten(`${'a'.repeat(100)}${character}bc`, 100 + length)).toBe(`${'a'.repeat(100)}…`)
  expect(shorten(`a${character}bc`, 1 + character.length)).toBe(`a${character}…`)
  expect(shorten(character, character.length)).toBe(character)
})
