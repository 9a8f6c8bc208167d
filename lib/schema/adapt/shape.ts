import { dereference, format, type Schema, validate } from '@cfworker/json-schema'
import { ExactNumber } from '../../core/json/exact-number.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { type FileLimits, readFileLimits } from '../files/file-schema.ts'
import { jsonTypeOf } from '../message-text.ts'
import { compilePattern, type Matcher } from '../patterns/compile-pattern.ts'
import { toLinearSchema } from '../patterns/schema-patterns.ts'
import { isComposed, type Lookup, resolveSchema } from '../subschemas.ts'
import { withFormats } from '../validate/formats.ts'
import { closeObjects } from '../validate/strict-mode.ts'

/** Whether a schema accepts a value, its parts included. */
export type ValueCheck = (value: Json) => boolean

/** The parts of a JSON Schema that adaptation uses. Shapes reference each other like schemas, including cycles. */
export type Shape = {
  /** undefined if the schema has no `type`. */
  types: ReadonlySet<string> | undefined
  /** The values of `enum` or `const`. */
  choices: readonly Json[] | undefined
  fields: Map<string, FieldShape>
  defaults: DefaultedField[]
  /** Whether strict mode rejects undeclared fields. */
  isClosed: boolean
  /** The keys of `patternProperties`. A field that matches one is declared, but never adapted. */
  patterns: Matcher[]
  /** The shape of undeclared fields, if the schema describes them. */
  others: Shape | undefined
  /** `prefixItems`. */
  firstItems: Shape[]
  items: Shape | undefined
  /** Only of a file. */
  file: FileLimits | undefined
  /** Whether the schema accepts a value of one of its types. */
  accepts: ValueCheck
  /** Whether a scalar of the right type can be invalid, other than by `choices`: for example by a format. */
  restrictsScalars: boolean
}

export type FieldShape = {
  name: string
  shape: Shape
  isRequired: boolean
  defaultValue: Json | undefined
  /** Whether the schema accepts a value. Follows alternatives to null, which the shape leaves out. */
  accepts: ValueCheck
}

export type DefaultedField = FieldShape & { defaultValue: Json }

/**
 * Reads the shape of a JSON Schema as strict mode interprets it. Follows `$ref`, and `anyOf` or `oneOf` that only adds
 * null to one schema. Other composition keywords are ignored: what they allow is not certain.
 */
export function readShape(schema: JsonObject): { root: Shape; shapes: Shape[] } {
  const linear = toLinearSchema(schema)
  const lookup = dereference(linear.schema as Schema)
  const checkOf = (part: JsonObject) => toCheck(part, linear.formats, lookup)
  const shapes = new Map<JsonObject, Shape>()

  function read(part: Json | undefined): Shape {
    const { resolved } = resolveSchema(part, lookup)
    const known = shapes.get(resolved)
    if (known) return known
    const shape = emptyShape(resolved, checkOf(resolved))
    shapes.set(resolved, shape)
    const { properties, required, additionalProperties, prefixItems, items } = resolved
    for (const [name, property] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const isRequired = Array.isArray(required) && required.includes(name)
      const accepts = isJsonObject(property) ? checkOf(property) : () => property !== false
      const { defaultValue } = resolveSchema(property, lookup)
      const field = { name, shape: read(property), isRequired, accepts, defaultValue }
      shape.fields.set(name, field)
      if (defaultValue !== undefined) shape.defaults.push({ ...field, defaultValue })
    }
    if (isJsonObject(additionalProperties) && Object.keys(additionalProperties).length > 0)
      shape.others = read(additionalProperties)
    if (Array.isArray(prefixItems)) shape.firstItems = prefixItems.map(read)
    if (isJsonObject(items)) shape.items = read(items)
    return shape
  }

  return { root: read(closeObjects(linear.schema, lookup)), shapes: [...shapes.values()] }
}

function emptyShape(schema: JsonObject, accepts: ValueCheck): Shape {
  const { type, enum: choices, const: constant, patternProperties } = schema
  const { additionalProperties, unevaluatedProperties } = schema
  return {
    types: type === undefined ? undefined : new Set([type].flat().map(String)),
    choices: constant !== undefined ? [constant] : Array.isArray(choices) ? choices : undefined,
    fields: new Map(),
    defaults: [],
    isClosed: additionalProperties === false || (unevaluatedProperties === false && !isComposed(schema)),
    patterns: Object.keys(isJsonObject(patternProperties) ? patternProperties : {}).flatMap(
      (pattern) => compilePattern(pattern) ?? [],
    ),
    others: undefined,
    firstItems: [],
    items: undefined,
    file: readFileLimits(schema),
    accepts,
    restrictsScalars: Object.keys(schema).some((keyword) => !isPlain(keyword)),
  }
}

/** Keywords that restrict a value no further than its type and parts do, which adaptation checks itself. */
const PLAIN_KEYWORDS = new Set(
  (
    'type title description default examples deprecated readOnly writeOnly ' +
    'properties required additionalProperties items prefixItems'
  ).split(' '),
)

/** The validator's own keywords start with `__`. */
const isPlain = (keyword: string) => PLAIN_KEYWORDS.has(keyword) || keyword.startsWith('__')

/** The validator takes ten times as long as the format itself. */
const hasOnlyFormat = (schema: JsonObject): boolean =>
  schema.type === 'string' &&
  schema.format !== undefined &&
  Object.keys(schema).every((keyword) => keyword === 'format' || isPlain(keyword))

/** A schema that cannot be checked accepts nothing, so that no change depends on it. */
function toCheck(schema: JsonObject, formats: Record<string, Matcher>, lookup: Lookup): ValueCheck {
  return (value) => {
    try {
      if (typeof value === 'string' && hasOnlyFormat(schema))
        return withFormats(formats, () => format[`${schema.format}`]?.(value) ?? true)
      return withFormats(formats, () => validate(value, schema as Schema, '2020-12', lookup, true).valid)
    } catch {
      // An unresolvable reference, or one that leads to itself.
      return false
    }
  }
}

/** Whether a value has a type, or is one of the choices, of a shape. Does not look at the parts of the value. */
export function fits({ choices, types }: Shape, value: Json): boolean {
  if (value instanceof ExactNumber) return false
  if (choices) return choices.includes(value) || (isContainer(value) && choices.some(isContainer))
  if (!types) return true
  if (typeof value === 'number')
    return types.has('number') || (types.has('integer') && Number.isInteger(value))
  return types.has(jsonTypeOf(value))
}

export const hasOnlyType = ({ types }: Shape, type: string): boolean => types?.size === 1 && types.has(type)

/** Whether all required fields are among some. */
export const hasRequired = (shape: Shape, found: ReadonlySet<FieldShape | undefined>): boolean =>
  [...shape.fields.values()].every((field) => !field.isRequired || found.has(field))

/** Whether a value fits, and is valid if it is a scalar. */
export const isValidScalar = (shape: Shape, value: Json): boolean =>
  fits(shape, value) && (!shape.restrictsScalars || typeof value === 'object' || shape.accepts(value))

const isContainer = (value: Json) => typeof value === 'object' && value !== null
