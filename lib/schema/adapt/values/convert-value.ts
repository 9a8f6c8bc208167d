import { isJsonObject, type Json, type JsonObject } from '../../../core/json/json.ts'
import { readFile } from '../../files/read-file.ts'
import { findField } from '../names/find-field.ts'
import { fits, hasOnlyType, hasRequired, isValidScalar, type Shape } from '../shape.ts'
import { convertScalar } from './convert-scalar.ts'
import { parseJsonText } from './parse-text.ts'

/** Whether a value fits a shape, converted if necessary. */
export function canFit(shape: Shape, value: Json): boolean {
  return isValidScalar(shape, value) || convertValue(shape, value) !== undefined
}

/**
 * Converts a value that does not fit, or a scalar that fits and is invalid. Undefined when there is no conversion, or
 * more than one. A converted scalar is valid; the parts of an object or array are not converted. null stays null.
 */
export function convertValue(shape: Shape, value: Json): Json | undefined {
  if (value === null) return undefined
  const single = Array.isArray(value) ? toSingle(shape, value) : convertScalar(shape, value)
  const object = typeof value === 'string' && shape.types?.has('object') ? toObject(shape, value) : undefined
  const list = shape.types?.has('array') ? toList(shape, value) : undefined
  if (object === undefined && list === undefined) return single
  if (single !== undefined) return undefined
  return object === undefined || list === undefined ? (object ?? list) : undefined
}

function toObject(shape: Shape, text: string): Json | undefined {
  const file = shape.file && readFile(text, shape.file)
  if (file) return file
  const parsed = fits(shape, text) ? undefined : parseJsonText(text)
  return isJsonObject(parsed) ? parsed : undefined
}

/** The item of a list of one, where the shape allows no list. */
function toSingle(shape: Shape, list: Json[]): Json | undefined {
  const [item = null] = list
  if (list.length !== 1 || item === null || !(shape.types || shape.choices) || fits(shape, list))
    return undefined
  return isValidScalar(shape, item) ? item : convertScalar(shape, item)
}

/** A text with one of these may be several items, and one that starts like JSON is a list that cannot be read. */
const LOOKS_LIKE_LIST = /[\s,;|、，；]|^[[{]/u

const SEPARATORS = [',', ';', '|', /\r?\n/]

/** Integers between one kind of separator. `100,200` is also one number with groups of digits. */
const INTEGERS = /^\s*-?\d+(?:\s*([,;|])\s*-?\d+)(?:\s*\1\s*-?\d+)*\s*$/
const SPACED_INTEGERS = /^\s*-?\d+(?:\s+-?\d+)+\s*$/
const DIGIT_GROUPS = /^\s*-?[1-9]\d{0,2}(?:([,\s])\d{3})(?:\1\d{3})*\s*$/

/**
 * Converts a value to a list: a JSON array in a text, integers with separators, texts with separators where the schema
 * of the items tells where each ends, and a single item. Undefined if a text may be several items, and for an array.
 */
function toList(shape: Shape, value: Json): Json[] | undefined {
  if (value === null || Array.isArray(value) || typeof value === 'boolean') return undefined
  const { items, firstItems } = shape
  const file = items?.file && typeof value === 'string' ? readFile(value, items.file) : undefined
  if (file) return [file]
  if (typeof value !== 'string') return firstItems.length === 0 && isItem(items, value) ? [value] : undefined
  const parsed = parseJsonText(value)
  if (Array.isArray(parsed)) return parsed
  if (firstItems.length > 0) return undefined
  if (parsed !== undefined) return isItem(items, parsed) ? [value] : undefined
  const split = splitText(items, value)
  if (split) return split
  return value !== '' && !LOOKS_LIKE_LIST.test(value) && isItem(items, value) ? [value] : undefined
}

/** Whether a value is one item of a list, by itself or converted. An object must have what the items require. */
function isItem(items: Shape | undefined, value: Json): boolean {
  if (!items) return !isJsonObject(value) || !isIndexed(value)
  if (isJsonObject(value)) return fits(items, value) && isComplete(items, value)
  if (isValidScalar(items, value)) return true
  return (
    !items.types?.has('array') && !items.types?.has('object') && convertScalar(items, value) !== undefined
  )
}

function isComplete(items: Shape, value: JsonObject): boolean {
  if (isIndexed(value)) return false
  const found = new Set(Object.keys(value).map((name) => findField(items, name)))
  const hasDeclared = found.size > (found.has(undefined) ? 1 : 0)
  return (hasDeclared || !items.isClosed) && hasRequired(items, found)
}

/** An array that a form encoder wrote as an object: `{"0": …, "1": …}`. */
const isIndexed = (value: JsonObject) => Object.hasOwn(value, '0')

function splitText(items: Shape | undefined, text: string): Json[] | undefined {
  if (!items) return undefined
  if (hasOnlyType(items, 'integer') && !items.choices) return splitIntegers(items, text)
  if (!items.choices && !items.restrictsScalars) return undefined
  if (isValidScalar(items, text) || convertScalar(items, text) !== undefined) return undefined
  const splits = SEPARATORS.map((separator) => text.split(separator).map((part) => part.trim())).filter(
    (parts) => parts.length > 1 && parts.some(Boolean) && parts.every((part) => isItem(items, part)),
  )
  return splits.length === 1 ? splits[0] : undefined
}

function splitIntegers(items: Shape, text: string): Json[] | undefined {
  const isList = INTEGERS.test(text) || SPACED_INTEGERS.test(text)
  if (!isList || DIGIT_GROUPS.test(text)) return undefined
  const numbers = text.match(/-?\d+/g)?.map((number) => convertScalar(items, number))
  return numbers?.every((number) => number !== undefined) ? numbers : undefined
}
