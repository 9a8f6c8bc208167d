import { DAY_MS } from '../../lib/core/limits.ts'

/** Periods that end now, in milliseconds. */
const PERIODS = {
  '1h': 3_600_000,
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
} as const
type Period = keyof typeof PERIODS

const isPeriod = (text: string): text is Period => Object.hasOwn(PERIODS, text)

/** The period of a range whose ends are given. */
export const CUSTOM = 'custom'

/** `from`, `to`: local date and time, as in `<input type="datetime-local">`; ignored with another period. */
export type Range = { period: string; from: string; to: string }

/** @param now milliseconds since the epoch, where a period ends */
export const toApiRange = ({ period, from, to }: Range, now: number): { from: string; to?: string } =>
  isPeriod(period)
    ? { from: new Date(now - PERIODS[period]).toISOString() }
    : { from: toIso(from), to: toIso(to) }

/** A text that is a local time; empty for any other. */
export const parseLocalTime = (text: string): string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : ''

/** A local time as ISO 8601; empty for an empty text. */
export const toIso = (text: string): string => (text === '' ? '' : new Date(text).toISOString())

/** A time as in `<input type="datetime-local">`. @param time milliseconds since the epoch */
export function toLocalText(time: number): string {
  const shifted = new Date(time - new Date(time).getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}
