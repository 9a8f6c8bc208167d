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

const FORMS = [
  `${YEAR}(?<separator>[-/.])(?<month>\\d{1,2})\\k<separator>${DAY}${OPTIONAL_TIME}`,
  `${YEAR}(?<month>\\d{2})(?<day>\\d{2})(?:t(?<hour>\\d{2})(?<minute>\\d{2})(?<second>\\d{2})${ZONE})?`,
  `${WEEKDAY}${DAY}(?:st|nd|rd|th)?(?: |-)${MONTH},?(?: |-)${YEAR}${OPTIONAL_TIME}`,
  `${WEEKDAY}${MONTH} ${DAY}(?:st|nd|rd|th)?,? ${YEAR}${OPTIONAL_TIME}`,
].map((form) => new RegExp(`^${form}$`))

/** Longer texts are no dates. */
const MAX_CHARACTERS = 100

type Moment = { date: string; time: string | undefined; zone: string | undefined }

/**
 * Rewrites a date for `format: date`: year first, or with the name of the month (English). A time is accepted only if it
 * is midnight, without a zone or in UTC. Undefined for anything else, for example `03/05/2024`.
 */
export function toDate(text: string): string | undefined {
  const moment = parseMoment(text)
  if (!moment) return undefined
  const isWholeDay = moment.time === undefined || /^00:00:00(?:\.0+)?$/.test(moment.time)
  return isWholeDay && (moment.zone === undefined || moment.zone === 'Z') ? moment.date : undefined
}

/** Rewrites a date and time for `format: date-time` (RFC 3339). Undefined without a zone: to add one would be a guess. */
export function toDateTime(text: string): string | undefined {
  const { date, time, zone } = parseMoment(text) ?? {}
  return time === undefined || zone === undefined ? undefined : `${date}T${time}${zone}`
}

function parseMoment(text: string): Moment | undefined {
  if (text.length > MAX_CHARACTERS) return undefined
  const normalized = text.trim().replace(/\s+/g, ' ').toLowerCase()
  for (const form of FORMS) {
    const parts = form.exec(normalized)?.groups
    if (parts) return toMoment(parts)
  }
  return undefined
}

function toMoment(parts: Record<string, string | undefined>): Moment | undefined {
  const date = toIsoDate(parts)
  const { hour, minute, second = '00', fraction } = parts
  if (date === undefined) return undefined
  if (hour === undefined || minute === undefined) return { date, time: undefined, zone: undefined }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const time = `${hour}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}`
  const { zone, sign, zoneHour, zoneMinute = '00' } = parts
  if (zone === undefined) return { date, time, zone: undefined }
  return { date, time, zone: sign === undefined ? 'Z' : `${sign}${zoneHour}:${zoneMinute}` }
}

/** Undefined if there is no such day, or if it is not the weekday that the text names. */
function toIsoDate({ year = '', month = '', day = '', weekday }: Record<string, string | undefined>) {
  const monthIndex = /^\d/.test(month) ? Number(month) - 1 : indexOfName(month, MONTHS)
  const date = new Date(0)
  date.setUTCFullYear(Number(year), monthIndex, Number(day))
  if (date.getUTCMonth() !== monthIndex || date.getUTCDate() !== Number(day)) return undefined
  if (weekday !== undefined && indexOfName(weekday, WEEKDAYS) !== date.getUTCDay()) return undefined
  return date.toISOString().slice(0, 10)
}

/** The index of an English name or its abbreviation; -1 for any other text. */
const indexOfName = (text: string, names: readonly string[]): number =>
  names.findIndex(
    (name) => text === name || text === name.slice(0, 3) || (text === 'sept' && name === 'september'),
  )
