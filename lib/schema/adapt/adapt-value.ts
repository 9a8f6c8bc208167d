import {
  containsExactNumber,
  isJsonObject,
  isWithinDepth,
  type Json,
  type JsonObject,
  MAX_JSON_DEPTH,
} from '../../core/json/json.ts'
import { normalizeFile } from '../files/read-file.ts'
import {
  type Adapted,
  childOf,
  converted,
  defaulted,
  insideEnvelopes,
  type Location,
  partOf,
  record,
  removed,
  renamed,
  roundNumbers,
  typed,
  unwrapped,
} from './adaptation.ts'
import { nameFields } from './names/name-fields.ts'
import type { NameIndex } from './names/name-index.ts'
import type { NamedField } from './names/paths.ts'
import { type DefaultedField, type FieldShape, fits, isValidScalar, type Shape } from './shape.ts'
import { unwrapEnvelope } from './unwrap-envelope.ts'
import { convertValue } from './values/convert-value.ts'

export type Context = Adapted & {
  names: NameIndex
  /** Whether a change may allow another one: a field got its name, or a value changed, beside an unknown name. */
  mayChangeAgain: boolean
  defaultOf: (field: DefaultedField) => Json | undefined
}

/** An object with more names that the schema does not describe is left as sent. */
const MAX_UNKNOWN_NAMES = 1_000

/** The value as its shape describes it, as far as it is unambiguous. */
export function adaptValue(shape: Shape, value: Json, location: Location, context: Context): Json {
  if (isValidScalar(shape, value)) return keepOrAdaptParts(shape, value, location, context)
  const result = convertValue(shape, value)
  if (result === undefined || !isWithinDepth(result, MAX_JSON_DEPTH - location.depth))
    return fits(shape, value)
      ? keepOrAdaptParts(shape, value, location, context)
      : roundNumbers(value, location, context)
  record(context, () => converted(location, value, result))
  const isUnwrapped = Array.isArray(value) && !Array.isArray(result)
  const sentLocation = isUnwrapped ? insideEnvelopes(location, ['0']) : location
  const isWrapped = Array.isArray(result) && result[0] === value
  return keepOrAdaptParts(shape, result, { ...sentLocation, isWrapped }, context)
}

/** Values with choices are compared as a whole: their parts stay as sent. */
function keepOrAdaptParts(shape: Shape, value: Json, location: Location, context: Context): Json {
  if (shape.choices) return roundNumbers(value, location, context)
  if (location.depth >= MAX_JSON_DEPTH) return value
  if (Array.isArray(value)) return adaptItems(shape, value, location, context)
  if (!isJsonObject(value)) return value
  const adapted = adaptObject(shape, value, location, context)
  return shape.file ? adaptFile(adapted, location, context) : adapted
}

function adaptFile(sent: JsonObject, location: Location, context: Context): JsonObject {
  const file = normalizeFile(sent)
  for (const name of ['mediaType', 'data']) {
    const [before, after = null] = [sent[name], file[name]]
    if (before === after) continue
    const part = childOf(location, name, name)
    record(context, () => (before === undefined ? typed(part) : converted(part, before, after)))
  }
  return file
}

function adaptItems(shape: Shape, items: Json[], location: Location, context: Context): Json[] {
  const adapted = items.map((item, index) => {
    const itemShape = shape.firstItems[index] ?? shape.items
    if (isScalar(item) && (!itemShape || isValidScalar(itemShape, item))) return item
    const child = childOf(location, `${index}`, location.isWrapped ? undefined : `${index}`)
    return itemShape ? adaptValue(itemShape, item, child, context) : roundNumbers(item, child, context)
  })
  return adapted.some((item, index) => item !== items[index]) ? adapted : items
}

/** The same object if nothing changes. */
export function adaptObject(
  shape: Shape,
  sent: JsonObject,
  location: Location,
  context: Context,
): JsonObject {
  const sentNames = Object.keys(sent)
  const unknown = unknownNames(shape, sentNames)
  const hasTooManyUnknown = unknown.length > MAX_UNKNOWN_NAMES
  if (hasTooManyUnknown && !shape.others) {
    // To list the names of a large object again would take as long as the rest.
    const hasExactNumber = sentNames.some((name) => containsExactNumber(sent[name] ?? null))
    return hasExactNumber ? (roundNumbers(sent, location, context) as JsonObject) : sent
  }
  const envelope =
    unknown.length > 0 && !hasTooManyUnknown
      ? unwrapEnvelope(shape, sent, location.depth === 0, context.names)
      : undefined
  if (envelope) {
    const inner = insideEnvelopes(location, envelope.path)
    record(context, () => unwrapped(inner))
    context.mayChangeAgain = true
    return adaptObject(shape, envelope.fields, inner, context)
  }
  const fields = nameFields(shape, sent, sentNames, hasTooManyUnknown ? [] : unknown, context.names)
  const adapted: [string, Json][] = []
  let isChanged = false
  for (const field of fields) {
    const entry = adaptField(shape, field, location, context)
    if (entry) adapted.push(entry)
    const isRenamed = field.name !== field.sentName || field.parts !== undefined
    if (!entry || isRenamed) context.mayChangeAgain = true
    isChanged ||= isRenamed || entry?.[1] !== field.value
  }
  const added = missingDefaults(shape, adapted, location, context)
  const isBesideUnknown = unknown.length > 0 && ((isChanged && shape.isClosed) || added.length > 0)
  if (isBesideUnknown) context.mayChangeAgain = true
  // `Object.fromEntries` treats `__proto__` as an ordinary field.
  return isChanged || added.length > 0 ? Object.fromEntries(adapted.concat(added)) : sent
}

/** At most one more than `MAX_UNKNOWN_NAMES`. */
function unknownNames(shape: Shape, names: readonly string[]): string[] {
  const unknown: string[] = []
  for (const name of names) {
    if (isDeclared(shape, name)) continue
    unknown.push(name)
    if (unknown.length > MAX_UNKNOWN_NAMES) break
  }
  return unknown
}

/** The field under its adapted name; undefined if it is removed. */
function adaptField(
  shape: Shape,
  { name, value, sentName, parts }: NamedField,
  location: Location,
  context: Context,
): [string, Json] | undefined {
  const field = shape.fields.get(name)
  if (field && isScalar(value) && isRemovable(field, value)) {
    record(context, () => removed(childOf(location, name, sentName), value))
    return undefined
  }
  if (parts) for (const part of parts) record(context, () => renamed(partOf(location, part)))
  else if (sentName !== name) record(context, () => renamed(childOf(location, name, sentName)))
  const fieldShape = field?.shape ?? (matchesPattern(shape, name) ? undefined : shape.others)
  if (isScalar(value) && (!fieldShape || isValidScalar(fieldShape, value))) return [name, value]
  const child = parts ? childOf({ ...location, parts }, name) : childOf(location, name, sentName)
  const adapted = fieldShape
    ? adaptValue(fieldShape, value, child, context)
    : roundNumbers(value, child, context)
  return [name, adapted]
}

/**
 * Whether a value only says that an optional field has none: null or an empty text that the schema does not allow. Not
 * if it is the default.
 */
function isRemovable(field: FieldShape, value: Json): boolean {
  if (field.isRequired || (value !== null && value !== '')) return false
  const { types, choices, restrictsScalars } = field.shape
  if (!types && !choices && !restrictsScalars) return false
  if (value !== null && isValidScalar(field.shape, value)) return false
  return !field.accepts(value) && field.defaultValue !== value
}

function missingDefaults(
  shape: Shape,
  present: readonly [string, Json][],
  location: Location,
  context: Context,
): [string, Json][] {
  const added: [string, Json][] = []
  if (shape.defaults.length === 0) return added
  const names = new Set(present.map(([name]) => name))
  for (const field of shape.defaults) {
    if (names.has(field.name)) continue
    const value = context.defaultOf(field)
    if (value === undefined || !isWithinDepth(value, MAX_JSON_DEPTH - location.depth - 1)) continue
    record(context, () => defaulted(childOf(location, field.name)))
    added.push([field.name, value])
  }
  return added
}

const isDeclared = (shape: Shape, name: string) => shape.fields.has(name) || matchesPattern(shape, name)

const matchesPattern = ({ patterns }: Shape, name: string) => patterns.some((matches) => matches(name))

/** Most values are scalars of the right type; skipping them early keeps adaptation fast. */
const isScalar = (value: Json) => typeof value !== 'object' || value === null
