import { parseNumber } from '../../../core/json/exact-number.ts'
import { containsExactNumber, type Json } from '../../../core/json/json.ts'
import { JsonError, parseJson } from '../../../core/json/parse-json.ts'

const FENCE = '```'

/**
 * Parses a text that contains a JSON object or array, also in a Markdown code fence or encoded twice. Undefined for any
 * other text, and when parsing would lose digits or keys.
 */
export function parseJsonText(text: string): Json | undefined {
  const json = stripFence(text.trim())
  const value = parse(json)
  const inner = typeof value === 'string' ? parse(value.trim()) : value
  return typeof inner === 'object' && inner !== null && !containsExactNumber(inner) ? inner : undefined
}

function parse(text: string): Json | undefined {
  if (!/^[[{"]/.test(text)) return undefined
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}

function stripFence(text: string): string {
  const lineEnd = text.indexOf('\n')
  if (!text.startsWith(FENCE) || !text.endsWith(FENCE) || lineEnd < 0) return text
  const language = text.slice(FENCE.length, lineEnd).trim().toLowerCase()
  if (language !== '' && language !== 'json') return text
  return text.slice(lineEnd + 1, Math.max(text.length - FENCE.length, lineEnd + 1)).trim()
}

const COMMA_GROUPS = /^-?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$/
const DOT_GROUPS = /^-?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?$/
const SPACE_GROUPS = /^-?[1-9]\d{0,2}(?:[ \u{a0}\u{2009}\u{202f}'’]\d{3})+(?:[.,]\d+)?$/u
const DECIMAL_COMMA = /^-?(?:0|[1-9]\d*),\d+$/

/** Longer than any number that a person or a spreadsheet writes. */
const MAX_NUMBER_CHARACTERS = 64

/**
 * Parses a number as JSON writes it, or with separators between groups of three digits or a decimal comma. A single
 * comma before three digits (`1,200`) separates groups only if the number must be an integer: it could be decimal.
 * @returns undefined if the text is ambiguous or not a number, or if a double would change its value
 */
export function parseNumberText(text: string, isInteger: boolean): number | undefined {
  const trimmed = text.trim()
  const plain = parseNumber(trimmed) ?? parseSeparated(trimmed, isInteger)
  return plain === undefined || (isInteger && !Number.isInteger(plain)) ? undefined : plain
}

function parseSeparated(text: string, isInteger: boolean): number | undefined {
  if (text.length > MAX_NUMBER_CHARACTERS) return undefined
  if (COMMA_GROUPS.test(text)) {
    const isCertain = isInteger || text.includes('.') || text.indexOf(',') !== text.lastIndexOf(',')
    return isCertain ? parseNumber(text.replaceAll(',', '')) : undefined
  }
  if (DOT_GROUPS.test(text)) {
    const isCertain = text.includes(',') || text.indexOf('.') !== text.lastIndexOf('.')
    return isCertain ? parseNumber(text.replaceAll('.', '').replace(',', '.')) : undefined
  }
  if (SPACE_GROUPS.test(text)) return parseNumber(text.replace(/[^\d.,-]/g, '').replace(',', '.'))
  return DECIMAL_COMMA.test(text) ? parseNumber(text.replace(',', '.')) : undefined
}

const MONTHS = 'january february march april may june july august september october november december'.split(
  ' ',
)
const WEEKDAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ')

const WEEKDAY = '(?:(?<weekday>[a-z]{3,9})[.,]? )?'
const DAY = '(?<day>\\d{1,2})'
const MONTH = '(?<month>[a-z]{3,9})\\.?'
const YEAR = '(?<year>\\d{4})'
const TIME = '(?<hour>\\d{2}):(?<minute>\\d{2})(?::(?<second>\\d{2})(?:[.,](?<fraction>\\d{1,9}))?)?'
const ZONE =
  '(?: ?(?<zone>z|utc|gmt|(?:utc|gmt)?(?<sign>[+-])(?<zoneHour>\\d{2}):?(?<zoneMinute>\\d{2})?(?: utc)?)(?: \\([^()]{1,40}\\))?)?'
const OPTIONAL_TIME = `(?:(?:t|,? )${TIME}${ZONE})?`

const toPatterns = (forms: string[]) => forms.map((form) => new RegExp(`^${form}$`))

const YEAR_FIRST = toPatterns([
  `${YEAR}(?<separator>[-/.])(?<month>\\d{1,2})\\k<separator>${DAY}${OPTIONAL_TIME}`,
  `${YEAR}(?<month>\\d{2})(?<day>\\d{2})(?:t(?<hour>\\d{2})(?<minute>\\d{2})(?<second>\\d{2})${ZONE})?`,
])
const WITH_MONTH_NAME = toPatterns([
  `${WEEKDAY}${DAY}(?:st|nd|rd|th)?(?: |-)${MONTH},?(?: |-)${YEAR}${OPTIONAL_TIME}`,
  `${WEEKDAY}${MONTH} ${DAY}(?:st|nd|rd|th)?,? ${YEAR}${OPTIONAL_TIME}`,
])

const MAX_DATE_CHARACTERS = 100

/**
 * What an English text or an ISO 8601 variant can be written as. `date`, for `format: date`: year first, or with the
 * name of the month; a time must be midnight, without a zone or in UTC. `dateTime`, for `format: date-time` (RFC 3339):
 * only with a zone, because to add one would be a guess. Neither for anything else, for example `03/05/2024`.
 */
export function parseDateText(text: string): { date?: string | undefined; dateTime?: string | undefined } {
  const moment = parseMoment(text)
  if (!moment) return {}
  const { date, time, zone } = moment
  const isWholeDay = time === undefined || /^00:00:00(?:\.0+)?$/.test(time)
  return {
    date: isWholeDay && (zone === undefined || zone === 'Z') ? date : undefined,
    dateTime: time === undefined || zone === undefined ? undefined : `${date}T${time}${zone}`,
  }
}

function parseMoment(text: string) {
  if (text.length > MAX_DATE_CHARACTERS) return undefined
  const normalized = text.trim().replace(/\s+/g, ' ').toLowerCase()
  for (const form of /^\d{4}/.test(normalized) ? YEAR_FIRST : WITH_MONTH_NAME) {
    const parts = form.exec(normalized)?.groups
    if (parts) return toMoment(parts)
  }
  return undefined
}

function toMoment(parts: Record<string, string | undefined>) {
  const date = toIsoDate(parts)
  const { hour, minute, second = '00', fraction } = parts
  if (date === undefined) return undefined
  if (hour === undefined || minute === undefined) return { date, time: undefined, zone: undefined }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const time = `${hour}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}`
  const { zone, sign, zoneHour, zoneMinute = '00' } = parts
  return { date, time, zone: zone && (sign === undefined ? 'Z' : `${sign}${zoneHour}:${zoneMinute}`) }
}

/** Undefined if the month has no such day, or if it is not the weekday that the text names. */
function toIsoDate({ year = '', month = '', day = '', weekday }: Record<string, string | undefined>) {
  const monthNumber = /^\d/.test(month) ? Number(month) : indexOfName(month, MONTHS) + 1
  if (monthNumber < 1 || monthNumber > 12 || Number(day) < 1 || Number(day) > 31) return undefined
  const date = `${year}-${`${monthNumber}`.padStart(2, '0')}-${day.padStart(2, '0')}`
  if (Number(day) <= 28 && weekday === undefined) return date
  const parsed = new Date(`${date}T00:00:00Z`)
  if (parsed.getUTCDate() !== Number(day)) return undefined
  return weekday === undefined || indexOfName(weekday, WEEKDAYS) === parsed.getUTCDay() ? date : undefined
}

/** The index of an English name or its abbreviation; -1 for any other text. */
const indexOfName = (text: string, names: readonly string[]): number =>
  names.findIndex(
    (name) => text === name || text === name.slice(0, 3) || (text === 'sept' && name === 'september'),
  )
