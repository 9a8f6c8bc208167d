import { ExactNumber, parseNumber } from '../../../core/json/exact-number.ts'
import { isJsonObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import { foldCase, normalizeText } from '../../similar-names.ts'
import { fits, type Shape } from '../shape.ts'
import { parseDateText, parseNumberText } from './parse-text.ts'

const BOOLEANS = new Map<Json, boolean>([
  ...['true', 'yes', 'y', 'on', '1', 1].map((value) => [value, true] as const),
  ...['false', 'no', 'n', 'off', '0', 0].map((value) => [value, false] as const),
])

/**
 * Converts a scalar, or an option of a form, to a scalar that the shape accepts; undefined when there is no such
 * conversion, or more than one. What JSON itself would read comes first: `"1"` is 1 where integers and booleans are
 * allowed.
 */
export function convertScalar(shape: Shape, value: Json): Json | undefined {
  if (shape.choices) return accepted(shape, [findChoice(shape.choices, value)])
  if (value === null || (typeof value === 'object' && !(value instanceof ExactNumber))) return undefined
  if (value instanceof ExactNumber) return convertExactNumber(shape, value)
  if (typeof value === 'string' && fits(shape, value)) return accepted(shape, rewriteText(value))
  return read(shape, value, readJson) ?? read(shape, value, readText)
}

type Read = (type: string, value: Json) => Json | undefined

/** A loop without intermediate lists, because large inputs have many values to convert. */
function read(shape: Shape, value: Json, toType: Read): Json | undefined {
  const { types } = shape
  if (types?.size === 1) for (const type of types) return acceptedOne(shape, toType(type, value))
  const candidates = [...(types ?? [])].filter((type) => type !== 'integer' || !types?.has('number'))
  return accepted(
    shape,
    candidates.map((type) => toType(type, value)),
  )
}

const acceptedOne = (shape: Shape, result: Json | undefined): Json | undefined =>
  result === undefined || !shape.restrictsScalars || shape.accepts(result) ? result : undefined

/** The only one of the results that there is and that the shape accepts. */
function accepted(shape: Shape, results: (Json | undefined)[]): Json | undefined {
  const valid = new Set(results.map((result) => acceptedOne(shape, result)))
  valid.delete(undefined)
  return valid.size === 1 ? [...valid][0] : undefined
}

function convertExactNumber(shape: Shape, number: ExactNumber): Json | undefined {
  if (shape.types?.has('string')) return number.text
  return shape.types?.has('number') || shape.types?.has('integer') ? number.toDouble() : undefined
}

function readJson(type: string, value: Json): Json | undefined {
  if (type === 'string' && (typeof value === 'number' || typeof value === 'boolean')) return String(value)
  if (typeof value !== 'string') return undefined
  if (type === 'number') return parseNumber(value)
  if (type === 'integer') {
    const number = parseNumber(value)
    return Number.isInteger(number) ? number : undefined
  }
  return type === 'boolean' && /^(?:true|false)$/i.test(value) ? BOOLEANS.get(value.toLowerCase()) : undefined
}

function readText(type: string, value: Json): Json | undefined {
  if (type === 'boolean') return BOOLEANS.get(typeof value === 'string' ? value.trim().toLowerCase() : value)
  if (typeof value !== 'string' || (type !== 'number' && type !== 'integer')) return undefined
  return parseNumberText(value, type === 'integer')
}

/** Other spellings of a text that its format, pattern or choices do not allow as it is. */
function rewriteText(text: string): (string | undefined)[] {
  const trimmed = text.trim()
  const { date, dateTime } = parseDateText(trimmed)
  return [trimmed === text ? undefined : trimmed, date, dateTime]
}

/**
 * The only choice that a value can mean: first ignoring case and surrounding white space and reading numbers and
 * booleans from strings (and the reverse), then also ignoring separators. An option of a form (`{value, label}`) means
 * its value, unless its label means another choice.
 */
function findChoice(choices: readonly Json[], value: Json): Json | undefined {
  if (isJsonObject(value)) return findOption(choices, value)
  if (Array.isArray(value) || value === null) return undefined
  const text = String(value)
  const strings = choices.filter((choice) => typeof choice === 'string')
  const sameText: Json[] = strings.filter((choice) => foldCase(choice) === foldCase(text))
  const sameValue = choices.find((choice) => typeof value === 'string' && isWrittenAs(choice, value))
  const matches = sameValue === undefined ? sameText : [...sameText, sameValue]
  if (matches.length > 0) return matches.length === 1 ? matches[0] : undefined
  const normalized = normalizeText(text)
  const similar = strings.filter((choice) => normalized !== '' && normalizeText(choice) === normalized)
  return similar.length === 1 ? similar[0] : undefined
}

function findOption(choices: readonly Json[], option: JsonObject): Json | undefined {
  if (Object.keys(option).sort().join() !== 'label,value') return undefined
  const [byValue, byLabel] = [option.value, option.label].map((part = null) => chooseScalar(choices, part))
  return byLabel === undefined || byLabel === byValue ? byValue : undefined
}

function chooseScalar(choices: readonly Json[], value: Json): Json | undefined {
  if (typeof value === 'object' && !(value instanceof ExactNumber)) return undefined
  return choices.includes(value) ? value : findChoice(choices, value)
}

function isWrittenAs(choice: Json, text: string): boolean {
  if (typeof choice === 'number') return parseNumber(text) === choice
  return typeof choice === 'boolean' && text.toLowerCase() === String(choice)
}
