import { DAY_MS } from '../../lib/core/limits.ts'

/** Periods that end now, in milliseconds. */
export const PERIODS = {
  '1h': 3_600_000,
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
} as const
export type Period = keyof typeof PERIODS

/** After "Last". */
export const PERIOD_NAMES: Record<Period, string> = {
  '1h': 'hour',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
}

/** `from`, `to`: local date and time, as in `<input type="datetime-local">`; ignored with a period. */
export type Range = { period: Period | ''; from: string; to: string }

/** Unknown values, which an edited URL may contain, filter nothing. */
export function parseRange(query: URLSearchParams): Range {
  const [period = '', from = '', to = ''] = ['period', 'from', 'to'].map((name) => query.get(name) ?? '')
  return {
    period: Object.hasOwn(PERIODS, period) ? (period as Period) : '',
    from: isLocalTime(from) ? from : '',
    to: isLocalTime(to) ? to : '',
  }
}

/** @param now milliseconds since the epoch, where a period ends */
export const toApiRange = ({ period, from, to }: Range, now: number): { from: string; to?: string } =>
  period ? { from: new Date(now - PERIODS[period]).toISOString() } : { from: toIso(from), to: toIso(to) }

const isLocalTime = (text: string) =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(text) && !Number.isNaN(Date.parse(text))

const toIso = (text: string) => (text === '' ? '' : new Date(text).toISOString())

/** A time as in `<input type="datetime-local">`. @param time milliseconds since the epoch */
export function toLocalText(time: number): string {
  const shifted = new Date(time - new Date(time).getTimezoneOffset() * 60_000)
  return shifted.toISOString().slice(0, 16)
}
