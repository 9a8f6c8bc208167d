import type { InputAdaptation } from '../../core/execution.ts'
import {
  containsExactNumber,
  isJsonObject,
  isWithinDepth,
  type Json,
  type JsonObject,
  MAX_JSON_DEPTH,
  mapExactNumbers,
} from '../../core/json.ts'
import { toJsonSchema } from '../field-map.ts'
import {
  childOf,
  converted,
  defaulted,
  insideEnvelopes,
  type Location,
  ROOT,
  renamed,
  unwrapped,
} from './adaptation.ts'
import { convertValue, fits } from './convert-value.ts'
import { matchNames, NameIndex } from './match-names.ts'
import { type DefaultedField, readShape, type Shape } from './shape.ts'
import { unwrapEnvelope } from './unwrap-envelope.ts'

export type Adapter = (input: JsonObject) => { input: JsonObject; adaptations: InputAdaptation[] }

type Context = {
  adaptations: InputAdaptation[]
  names: NameIndex
  defaultOf: (field: DefaultedField) => Json | undefined
}

const MAX_ADAPTATIONS = 100

/** An object with more names that the schema does not describe is hardly a misspelled input. It is left as sent. */
const MAX_UNKNOWN_NAMES = 1_000

const NO_RENAMES: ReadonlyMap<string, string> = new Map()

/**
 * Compiles a declared schema (field map or JSON Schema) into a function that adapts an input to it. It makes only
 * unambiguous changes, in this order: names (match-names.ts), envelopes (unwrap-envelope.ts), types and choices
 * (convert-value.ts), defaults. Everything else stays as sent; nothing is removed, overwritten or rejected.
 * The time is linear in the size of the input.
 *
 * A number that a double cannot hold becomes text in a string field, and otherwise the nearest double; the result never
 * contains an `ExactNumber`.
 *
 * In an input that is valid in strict mode, only defaults of missing fields are added, to objects that were sent and
 * inside the defaults themselves (a default that would contain itself is omitted), and numbers in fields of any type are
 * rounded. Adaptation is idempotent. At most 100 adaptations are listed.
 */
export function compileAdapter(declared: JsonObject): Adapter {
  const { root, shapes } = readShape(toJsonSchema(declared))
  const defaults = adaptDefaults(shapes.flatMap((shape) => shape.defaults))
  const defaultOf = (field: DefaultedField) => copyOf(defaults.get(field))
  return (input) => {
    const adaptations: InputAdaptation[] = []
    const context = { adaptations, defaultOf, names: new NameIndex() }
    const adapted = root.choices
      ? (roundNumbers(input, ROOT, context) as JsonObject)
      : adaptObject(root, input, ROOT, context)
    return { input: adapted, adaptations }
  }
}

/** Adapts each default to its schema, which also adds the defaults inside. */
function adaptDefaults(fields: DefaultedField[]): Map<DefaultedField, Json | undefined> {
  const adapted = new Map<DefaultedField, Json | undefined>()
  const started = new Set<DefaultedField>()
  const recursive = new Set<DefaultedField>()
  function defaultOf(field: DefaultedField): Json | undefined {
    if (adapted.has(field)) return adapted.get(field)
    if (started.has(field)) {
      recursive.add(field)
      return undefined
    }
    started.add(field)
    const value = adaptValue(field.shape, field.value, ROOT, {
      adaptations: [],
      defaultOf,
      names: new NameIndex(),
    })
    adapted.set(field, recursive.has(field) ? undefined : value)
    return adapted.get(field)
  }
  for (const field of fields) defaultOf(field)
  return adapted
}

function adaptValue(shape: Shape, value: Json, location: Location, context: Context): Json {
  if (fits(shape, value))
    return shape.choices
      ? roundNumbers(value, location, context)
      : adaptParts(shape, value, location, context)
  const result = convertValue(shape, value)
  if (result === undefined || !isWithinDepth(result, MAX_JSON_DEPTH - location.depth))
    return roundNumbers(value, location, context)
  record(context, () => converted(location, value, result))
  const isWrapped = Array.isArray(result) && result[0] === value
  return adaptParts(shape, result, location, context, isWrapped)
}

function adaptParts(
  shape: Shape,
  value: Json,
  location: Location,
  context: Context,
  isWrapped = false,
): Json {
  if (location.depth >= MAX_JSON_DEPTH) return value
  if (Array.isArray(value)) return adaptItems(shape, value, location, context, isWrapped)
  return isJsonObject(value) ? adaptObject(shape, value, location, context) : value
}

function adaptItems(
  shape: Shape,
  items: Json[],
  location: Location,
  context: Context,
  isWrapped: boolean,
): Json[] {
  const adapted = items.map((item, index) => {
    const itemShape = shape.firstItems[index] ?? shape.items
    if (isScalar(item) && (!itemShape || fits(itemShape, item))) return item
    const child = childOf(location, `${index}`, isWrapped ? undefined : `${index}`)
    return itemShape ? adaptValue(itemShape, item, child, context) : roundNumbers(item, child, context)
  })
  return adapted.some((item, index) => item !== items[index]) ? adapted : items
}

function adaptObject(shape: Shape, sent: JsonObject, location: Location, context: Context): JsonObject {
  const sentNames = Object.keys(sent)
  const unknown = unknownNames(shape, sentNames)
  const hasTooManyUnknown = unknown.length > MAX_UNKNOWN_NAMES
  if (hasTooManyUnknown && !shape.others) {
    // To list the names of a large object again would take as long as the rest.
    const hasExactNumber = sentNames.some((name) => containsExactNumber(sent[name] ?? null))
    return hasExactNumber ? (roundNumbers(sent, location, context) as JsonObject) : sent
  }
  const matchable = hasTooManyUnknown ? [] : unknown
  const renames = matchable.length > 0 ? matchNames(shape, sent, matchable, context.names) : NO_RENAMES
  const envelope = renames.size === 0 && unknown.length === 1 ? unwrapEnvelope(shape, sent) : undefined
  if (envelope) {
    const inner = insideEnvelopes(location, envelope.names)
    record(context, () => unwrapped(inner))
    return adaptObject(shape, envelope.fields, inner, context)
  }
  const fields = sentNames.map((sentName): [string, Json] => {
    const name = renames.get(sentName) ?? sentName
    return [name, adaptField(shape, { name, sentName, value: sent[sentName] ?? null }, location, context)]
  })
  const renamedTo = new Set(renames.values())
  const isPresent = (name: string) => Object.hasOwn(sent, name) || renamedTo.has(name)
  const added = missingDefaults(shape, isPresent, location, context)
  const isUnchanged =
    renames.size === 0 && added.length === 0 && fields.every(([name, value]) => value === sent[name])
  // `Object.fromEntries` treats `__proto__` as an ordinary field.
  return isUnchanged ? sent : Object.fromEntries([...fields, ...added])
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

type SentField = { name: string; sentName: string; value: Json }

function adaptField(
  shape: Shape,
  { name, sentName, value }: SentField,
  location: Location,
  context: Context,
): Json {
  if (name !== sentName) record(context, () => renamed(childOf(location, name, sentName)))
  const fieldShape = shape.fields.get(name)?.shape ?? (matchesPattern(shape, name) ? undefined : shape.others)
  if (isScalar(value) && (!fieldShape || fits(fieldShape, value))) return value
  const child = childOf(location, name, sentName)
  return fieldShape ? adaptValue(fieldShape, value, child, context) : roundNumbers(value, child, context)
}

function missingDefaults(
  shape: Shape,
  isPresent: (name: string) => boolean,
  location: Location,
  context: Context,
): [string, Json][] {
  const added: [string, Json][] = []
  for (const field of shape.defaults) {
    if (isPresent(field.name)) continue
    const value = context.defaultOf(field)
    if (value === undefined || !isWithinDepth(value, MAX_JSON_DEPTH - location.depth - 1)) continue
    record(context, () => defaulted(childOf(location, field.name)))
    added.push([field.name, value])
  }
  return added
}

const copyOf = (value: Json | undefined) => (typeof value === 'object' ? structuredClone(value) : value)

const isDeclared = (shape: Shape, name: string) => shape.fields.has(name) || matchesPattern(shape, name)

const matchesPattern = ({ patterns }: Shape, name: string) => patterns.some((matches) => matches(name))

/** Most values are scalars of the right type; skipping them early keeps adaptation fast. */
const isScalar = (value: Json) => typeof value !== 'object' || value === null

/** A value that stays as sent, except that its exact numbers become the nearest doubles. */
function roundNumbers(value: Json, location: Location, context: Context): Json {
  return mapExactNumbers(value, (number, path) => {
    const double = number.toDouble()
    const at = path.reduce((parent, name) => childOf(parent, name, name), location)
    record(context, () => converted(at, number, double))
    return double
  })
}

function record({ adaptations }: Context, adaptation: () => InputAdaptation): void {
  if (adaptations.length < MAX_ADAPTATIONS) adaptations.push(adaptation())
}
