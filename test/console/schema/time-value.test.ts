import { expect, it } from 'vitest'
import {
  joinTime,
  splitTime,
  type TimeFormat,
  toControlValue,
} from '../../../console/schema/form/time-value.ts'

it.each<[TimeFormat, string]>([
  ['date', '2024-02-29'],
  ['date', '0001-01-01'],
  ['date-time', '2026-01-31T12:00:59+05:45'],
  ['date-time', '2026-01-31T12:00:00-00:00'],
  ['date-time', '2026-01-31T23:59:59.5Z'],
  ['date-time', '2026-01-31T23:59:59.120+01:00'],
  ['time', '00:00:00Z'],
  ['time', '12:30:01.123-03:30'],
])('a form keeps every character of the %s %s', (format, text) => {
  const parts = splitTime(format, text)
  expect(parts && joinTime(format, parts)).toBe(text)
})

it.each<[TimeFormat, string]>([
  ['date', ''],
  ['date', '2026-02-30'],
  ['date', '0000-01-01'],
  ['date', '+12026-01-01'],
  ['date', '2026-1-1'],
  ['date', '2026-01-31 '],
  ['date-time', '2026-01-31T12:00:00'],
  ['date-time', '2026-01-31t12:00:00z'],
  ['date-time', '2026-01-31T12:00Z'],
  ['date-time', '2016-12-31T23:59:60Z'],
  ['date-time', '2026-01-31T12:00:00.1234Z'],
  ['date-time', '2026-01-31T12:00:00+0100'],
  ['time', '12:00:00+24:00'],
  ['time', 'T12:00:00Z'],
])('the %s %j is left to a text field', (format, text) => expect(splitTime(format, text)).toBeNull())

it('joinTime adds the seconds that a control leaves out', () => {
  expect(joinTime('date-time', { local: '2026-01-31T12:05', zone: 'Z' })).toBe('2026-01-31T12:05:00Z')
  expect(joinTime('time', { local: '12:05', zone: '+01:00' })).toBe('12:05:00+01:00')
})

it.each([
  ['2026-01-31', '2026-01-31'],
  ['2026-01-31T12:00:00', '2026-01-31T12:00'],
  ['2026-01-31T12:00:07', '2026-01-31T12:00:07'],
  ['12:00:00.500', '12:00:00.5'],
  ['12:00:00.000', '12:00'],
])('the control of %s has %s', (local, shown) => expect(toControlValue(local)).toBe(shown))
