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

/** Longer texts are no dates. */
const MAX_CHARACTERS = 100

type Moment = { date: string; time: string | undefined; zone: string | undefined }

/**
 * What an English text or an ISO 8601 variant can be written as. `date`, for `format: date`: year first, or with the name
 * of the month; a time must be midnight, without a zone or in UTC. `dateTime`, for `format: date-time` (RFC 3339): only
 * with a zone, because to add one would be a guess. Neither for anything else, for example `03/05/2024`.
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

function parseMoment(text: string): Moment | undefined {
  if (text.length > MAX_CHARACTERS) return undefined
  const normalized = text.trim().replace(/\s+/g, ' ').toLowerCase()
  for (const form of /^\d{4}/.test(normalized) ? YEAR_FIRST : WITH_MONTH_NAME) {
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
