import type { Violation } from '../core/errors.ts'
import { nextTimes } from '../cron-times.ts'
import { findSimilarName } from '../schema/similar-names.ts'

/** Characters of a cron expression: more than one that lists every minute and every hour has. */
export const MAX_CRON_LENGTH = 500

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

/** `names`: of the values from `min` on. */
type Field = { name: string; min: number; max: number; names?: string[]; example: string }

const FIELDS: Field[] = [
  { name: 'minute', min: 0, max: 59, example: '*/15' },
  { name: 'hour', min: 0, max: 23, example: '9-17/2' },
  { name: 'day of month', min: 1, max: 31, example: '1,15' },
  { name: 'month', min: 1, max: 12, names: MONTHS, example: 'JAN-MAR' },
  { name: 'day of week', min: 0, max: 7, names: DAYS, example: 'MON-FRI' },
]

const NICKNAMES = ['@hourly', '@daily', '@midnight', '@weekly', '@monthly', '@yearly', '@annually']

/**
 * Why these are not the times of a schedule; empty if they are. The dialect is that of POSIX with the names, steps and
 * nicknames of Vixie cron: croner accepts more, which other programs read differently or not at all.
 */
export function checkCron(cron: string, timezone: string): Violation[] {
  const syntax = findSyntaxProblem(cron)
  const zone = isTimezone(timezone) ? null : explainTimezone(timezone)
  const isPossible = syntax !== null || zone !== null || nextTimes(cron, timezone, 0).length > 0
  return [
    ...(syntax === null ? [] : [{ path: '/cron', message: syntax }]),
    ...(zone === null ? [] : [{ path: '/timezone', message: zone }]),
    ...(isPossible ? [] : [{ path: '/cron', message: 'cron names a date that does not exist in any year.' }]),
  ]
}

function findSyntaxProblem(cron: string): string | null {
  if (cron.length > MAX_CRON_LENGTH) return `cron must have at most ${MAX_CRON_LENGTH} characters.`
  const fields = cron.trim().split(/\s+/)
  if (fields.length === 1 && NICKNAMES.includes(fields[0]?.toLowerCase() ?? '')) return null
  if (fields.length !== FIELDS.length) {
    const names = FIELDS.map(({ name }) => name).join(', ')
    return `cron must have five fields (${names}), without seconds or a year, or be one of ${NICKNAMES.join(', ')}.`
  }
  for (const [index, field] of FIELDS.entries()) {
    const text = fields[index] ?? ''
    if (text.split(',').every((part) => isPart(field, part))) continue
    const { name, min, max, names, example } = field
    const values = `${min} to ${max}${names ? ` or ${names[0]} to ${names.at(-1)}` : ''}`
    return `cron: the ${name} ${JSON.stringify(text)} is invalid. Allowed are * and ${values}, with lists, ranges and steps of these, for example ${example}.`
  }
  return null
}

/** `*`, a value or a range; a step only after `*` or a range. */
const PART = /^(?:\*|(?<from>\d{1,2}|[a-z]{3})(?:-(?<to>\d{1,2}|[a-z]{3}))?)(?:\/(?<step>\d{1,2}))?$/i

function isPart(field: Field, part: string): boolean {
  const match = PART.exec(part)
  if (!match) return false
  const { from, to, step } = match.groups ?? {}
  // Sunday is both 0 and 7.
  const size = Math.min(field.max - field.min + 1, field === FIELDS[4] ? 7 : Number.POSITIVE_INFINITY)
  if (step !== undefined && (Number(step) < 1 || Number(step) > size)) return false
  if (from === undefined) return true
  const [first, last] = [toValue(field, from), to === undefined ? null : toValue(field, to)]
  if (first === null) return false
  if (to === undefined) return step === undefined
  // A range may end on Sunday.
  return to.toUpperCase() === 'SUN' ? first > 0 : last !== null && first <= last
}

/** Null if the field has no such value. */
function toValue({ min, max, names }: Field, text: string): number | null {
  const named = names?.indexOf(text.toUpperCase()) ?? -1
  const value = named === -1 ? Number(text) : named + min
  return value >= min && value <= max ? value : null
}

function explainTimezone(name: string): string {
  const zones = Intl.supportedValuesOf('timeZone')
  // People name the city, and Windows and others write the rest differently.
  const city = (zone: string) => zone.slice(zone.lastIndexOf('/') + 1)
  const similar = name.includes('/') ? findSimilarName(name, zones) : undefined
  const sameCity = findSimilarName(city(name), zones.map(city))
  const near = similar ?? zones.find((zone) => city(zone) === sameCity)
  const hint = near === undefined ? '.' : `; did you mean ${near}?`
  return `timezone must be the name of an IANA time zone, for example Europe/Berlin or UTC${hint}`
}

/** Of ICU, not of IANA, and rarely what is meant: BST is Asia/Dhaka, AST is America/Anchorage. */
const ABBREVIATIONS = new Set(
  'ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST'.split(
    ' ',
  ),
)

/** Offsets such as +01:00, which `Intl` accepts, are not time zones. */
function isTimezone(name: string): boolean {
  if (!/^[a-z]/i.test(name) || /^SystemV\//i.test(name)) return false
  if (ABBREVIATIONS.has(name.toUpperCase())) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined
  } catch {
    return false
  }
}
