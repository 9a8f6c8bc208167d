import { ExactNumber, parseNumber } from '../../core/exact-number.ts'
import { containsExactNumber, type Json } from '../../core/json.ts'
import { JsonError, parseJson } from '../../core/parse-json.ts'
import { jsonTypeOf } from '../message-text.ts'
import { foldCase, normalizeText } from '../similar-names.ts'
import type { Shape } from './shape.ts'

/** Whether a value has a type, or is one of the choices, of a shape. Does not look at the parts of the value. */
export function fits({ choices, types }: Shape, value: Json): boolean {
  if (value instanceof ExactNumber) return false
  if (choices) return (typeof value === 'object' && value !== null) || choices.includes(value)
  if (!types) return true
  if (typeof value === 'number')
    return types.has('number') || (types.has('integer') && Number.isInteger(value))
  return types.has(jsonTypeOf(value))
}

/** Whether a value fits a shape, converted if necessary. */
export function canFit(shape: Shape, value: Json): boolean {
  return fits(shape, value) || convertValue(shape, value) !== undefined
}

/**
 * Converts a value that does not fit; undefined when there is no conversion, or more than one. Conversions are lossless:
 * an array with one item is never replaced by the item, and null stays null.
 */
export function convertValue(shape: Shape, value: Json): Json | undefined {
  if (value === null) return undefined
  const { choices, types } = shape
  if (choices) return findChoice(choices, value)
  if (value instanceof ExactNumber && types?.has('string')) return value.text
  const results: Json[] = []
  for (const type of types ?? []) {
    if (type === 'integer' && types?.has('number')) continue
    const result = type === 'array' ? toArray(shape, value) : toType(type, value)
    if (result !== undefined) results.push(result)
  }
  return results.length === 1 ? results[0] : undefined
}

function toType(type: string, value: Json): Json | undefined {
  if (value instanceof ExactNumber)
    return type === 'number' || type === 'integer' ? value.toDouble() : undefined
  if (type === 'string' && (typeof value === 'number' || typeof value === 'boolean')) return String(value)
  if (typeof value !== 'string') return undefined
  if (type === 'number') return parseNumber(value)
  if (type === 'integer') return parseInteger(value)
  if (type === 'object') return parseContainer(value, '{')
  if (type === 'boolean' && /^(true|false)$/i.test(value)) return value.toLowerCase() === 'true'
  return undefined
}

/** Parses a text that starts with `bracket`; undefined when it is invalid, or when parsing would lose digits or keys. */
function parseContainer(text: string, bracket: '[' | '{'): Json | undefined {
  if (!text.trimStart().startsWith(bracket)) return undefined
  try {
    const value = parseJson(text)
    return containsExactNumber(value) ? undefined : value
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}

function parseInteger(text: string): number | undefined {
  const number = parseNumber(text)
  return Number.isInteger(number) ? number : undefined
}

/** Parses a JSON array, or wraps a single value that the array may contain. Never wraps an array. */
function toArray({ items, firstItems }: Shape, value: Json): Json | undefined {
  const parsed = typeof value === 'string' ? parseContainer(value, '[') : undefined
  if (parsed !== undefined) return parsed
  if (Array.isArray(value) || firstItems.length > 0) return undefined
  if (!items || fits(items, value)) return [value]
  const item = items.types?.has('array') ? undefined : convertValue(items, value)
  return item === undefined ? undefined : [value]
}

/**
 * The only choice that a value can mean: first ignoring case and surrounding white space and reading numbers and
 * booleans from strings (and the reverse), then also ignoring separators.
 */
function findChoice(choices: readonly Json[], value: Json): Json | undefined {
  if (typeof value === 'object' && !(value instanceof ExactNumber)) return undefined
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

function isWrittenAs(choice: Json, text: string): boolean {
  if (typeof choice === 'number') return parseNumber(text) === choice
  return typeof choice === 'boolean' && text.toLowerCase() === String(choice)
}
