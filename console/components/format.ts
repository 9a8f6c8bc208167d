/**
 * The interface is English, so its numbers and dates are, too: in the language of the browser, a page would mix two.
 * Irish: 24 hours, a month by its name between day and year, which nobody reads as another day, and K and M, where
 * British has k and m.
 */
const LOCALE = 'en-IE'

/** Three digits below a minute and two units above: `950 ms`, `1.00 s`, `12.3 s`, `2 min 5 s`, `2 d 3 h`. */
export function formatDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(ms < 9_995 ? 2 : 1)} s`
  return formatSeconds(ms)
}

/** The same, of what is only known to the second, or meant so: `4 s`, `2 min 5 s`. */
export function formatSeconds(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return join(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  const minutes = Math.round(ms / 60_000)
  if (minutes < 1_440) return join(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  const hours = Math.round(ms / 3_600_000)
  return join(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

const join = (large: number, largeUnit: string, small: number, smallUnit: string) =>
  small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`

const whole = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 })
const exact = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 9 })
const compact = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 })
const cents = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** A score from 0 to 1, or a difference of two: `0.93` */
export const formatScore = (score: number): string => cents.format(score)

/** `12,345` */
export const formatCount = (count: number): string => whole.format(count)

/** `0.000001`, `12,345.5`: a number with the digits that it has. */
export const formatNumber = (value: number): string => exact.format(value)

/** `1 run`, `12,345 runs`, `2 batches`. @param plural if it is not the noun with an s */
export const formatCountOf = (count: number, noun: string, plural = `${noun}s`): string =>
  `${formatCount(count)} ${count === 1 ? noun : plural}`

/** `12,345`, `12,345 (1,000 cached)`. @param part how many of them are of a kind, and `name` which */
export const formatTokens = (total: number, part: number | null, name: string): string =>
  part ? `${formatCount(total)} (${formatCount(part)} ${name})` : formatCount(total)

/** `12.3K`, `1.5M` */
export const formatCompact = (count: number): string => compact.format(count)

/** US dollars: two digits that matter below a cent, else cents. `$0.00042`, `$1.23` */
export function formatCost(usd: number): string {
  if (usd === 0) return '$0'
  return usd < 0.01
    ? `$${Number(usd.toPrecision(2)).toFixed(12).replace(/0+$/, '')}`
    : `$${cents.format(usd)}`
}

/** `42%`, without claiming 0 or all for what is not. */
export function formatPercent(ratio: number): string {
  const percent = ratio * 100
  if (percent > 0 && percent < 1) return '< 1%'
  if (percent > 99 && percent < 100) return '> 99%'
  return `${Math.round(percent)}%`
}

/** `5.1 MB` */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** Whether an error says that somebody ended the run on purpose: that is no failure. */
export const isCancelled = (code: string | undefined): boolean => code === 'Cancelled'

export { shortId } from '../../lib/core/ids.ts'

const MINUTE: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' }
const TIME: Intl.DateTimeFormatOptions = { ...MINUTE, second: '2-digit' }
const DAY: Intl.DateTimeFormatOptions = { month: 'short', day: 'numeric' }

// Creating a format takes longer than all that a list of times uses it for.
const today = new Intl.DateTimeFormat(LOCALE, TIME)
const thisYear = new Intl.DateTimeFormat(LOCALE, { ...DAY, ...TIME })
const minuteToday = new Intl.DateTimeFormat(LOCALE, MINUTE)
const minuteOfDay = new Intl.DateTimeFormat(LOCALE, { ...DAY, ...MINUTE })
const dayInUtc = new Intl.DateTimeFormat(LOCALE, { ...DAY, timeZone: 'UTC' })
const otherYear = new Intl.DateTimeFormat(LOCALE, { year: 'numeric', ...DAY, ...TIME })
const EXACT: Intl.DateTimeFormatOptions = { year: 'numeric', ...DAY, ...TIME, fractionalSecondDigits: 3 }
const exactLocal = new Intl.DateTimeFormat(LOCALE, { ...EXACT, timeZoneName: 'short' })
const exactUtc = new Intl.DateTimeFormat(LOCALE, { ...EXACT, timeZone: 'UTC', timeZoneName: 'short' })

/** A time in the zone of the browser, as short as it can be told from others. @param value ISO 8601 */
export function formatTime(value: string, now: Date = new Date()): string {
  const time = new Date(value)
  if (Number.isNaN(time.getTime())) return value
  if (time.toDateString() === now.toDateString()) return today.format(time)
  return (time.getFullYear() === now.getFullYear() ? thisYear : otherYear).format(time)
}

/** A time to the millisecond, in the zone of the browser and below it in UTC. @param value ISO 8601 */
export function formatExactTime(value: string): string {
  const time = new Date(value)
  if (Number.isNaN(time.getTime())) return value
  const [local, utc] = [exactLocal.format(time), exactUtc.format(time)]
  return local === utc ? utc : `${local}\n${utc}`
}

/** A time to the minute, in the zone of the browser. @param time milliseconds since the epoch */
export const formatMinute = (time: number, now: number): string =>
  (new Date(time).toDateString() === new Date(now).toDateString() ? minuteToday : minuteOfDay).format(time)

/** A time to the minute in a time zone, with its name; in UTC for a zone that the browser does not know. */
export function formatInZone(value: string | number, timezone: string): string {
  const format = (timeZone: string) =>
    new Intl.DateTimeFormat(LOCALE, { weekday: 'short', ...DAY, ...MINUTE, timeZone, timeZoneName: 'short' })
  try {
    return format(timezone).format(new Date(value))
  } catch {
    return format('UTC').format(new Date(value))
  }
}

/** A day in UTC. @param time milliseconds since the epoch */
export const formatDay = (time: number): string => dayInUtc.format(time)

export const toLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

/** A text without its case and its accents, for searches. */
export const fold = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

/** What contains every word of a query, in any order and case, with or without accents; all without a word. */
export function findTexts<T>(items: T[], textOf: (item: T) => string, query: string): T[] {
  const words = fold(query).split(/\s+/).filter(Boolean)
  if (words.length === 0) return items
  return items.filter((item) => words.every((word) => fold(textOf(item)).includes(word)))
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** The longest flags and families of emoji have fewer UTF-16 units. */
const MAX_GRAPHEME = 64

/** Where what a reader sees as one character begins. @param at an index of UTF-16 units in it */
export function startOfGrapheme(text: string, at: number): number {
  const begin = Math.max(at - MAX_GRAPHEME, 0)
  const near = graphemes.segment(text.slice(begin, at + MAX_GRAPHEME))
  const index = near.containing(at - begin)?.index ?? 0
  // A longer grapheme, such as a letter with a hundred marks, may be cut at any character.
  if (index === 0 && begin > 0) return /[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at
  return begin + index
}

/** The beginning of a text, and an ellipsis if there is more. Never a part of what a reader sees as one character. */
export const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, startOfGrapheme(text, length))}…` : text
