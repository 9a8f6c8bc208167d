/** Formats of texts that browsers have a control for. */
export const TIME_FORMATS = ['date', 'date-time', 'time'] as const
export type TimeFormat = (typeof TIME_FORMATS)[number]

/** `local`: as it is on the clock. `zone`: `Z` or an offset such as `+01:00`; empty for a date. */
type TimeParts = { local: string; zone: string }

const DATE = /^\d{4}-\d\d-\d\d$/
/** Controls have milliseconds, and neither leap seconds nor other letters. */
const TIME = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?$/
const ZONE = /(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** The parts of a text that a control can show without losing anything of it; null for any other text. */
export function splitTime(format: TimeFormat, text: string): TimeParts | null {
  if (format === 'date') return isDate(text) ? { local: text, zone: '' } : null
  const zone = ZONE.exec(text)?.[0]
  if (zone === undefined) return null
  const local = text.slice(0, -zone.length)
  const [first = '', second = ''] = format === 'time' ? ['', local] : splitOnce(local, 'T')
  return (format === 'time' || isDate(first)) && TIME.test(second) ? { local, zone } : null
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

function isDate(text: string): boolean {
  if (!DATE.test(text) || text.startsWith('0000')) return false
  const time = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text)
}

/** The text of what a control shows. Controls leave out seconds that are 0; the formats need them. */
export function joinTime(format: TimeFormat, { local, zone }: TimeParts): string {
  if (format === 'date') return local
  return `${/(?:^|T)\d\d:\d\d$/.test(local) ? `${local}:00` : local}${zone}`
}

/** What a control makes of it, so that it is not set again while someone types in it: the shortest form. */
export const toControlValue = (local: string): string =>
  local
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '')
    .replace(/(?<=(?:^|T)\d\d:\d\d):00$/, '')

/** The offset of this browser at a local time; now, for a time without a date. */
export function browserZone(local: string): string {
  const time = local.includes('T') ? new Date(local) : new Date()
  const minutes = -(Number.isNaN(time.getTime()) ? new Date() : time).getTimezoneOffset()
  const pad = (value: number) => String(Math.trunc(Math.abs(value))).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${pad(minutes / 60)}:${pad(minutes % 60)}`
}
