import { dereference, type Schema } from '@cfworker/json-schema'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { compilePattern, type Matcher } from '../patterns/compile-pattern.ts'
import { toLinearSchema } from '../patterns/schema-patterns.ts'
import { isComposed, resolveSchema } from '../subschemas.ts'
import { closeObjects } from '../validate/strict-mode.ts'
import { createChecks, restrictsScalars, type ValueCheck } from './value-check.ts'

/** The parts of a JSON Schema that adaptation uses. Shapes reference each other like schemas, including cycles. */
export type Shape = {
  /** undefined if the schema has no `type`. */
  types: ReadonlySet<string> | undefined
  /** The values of `enum` or `const`. */
  choices: readonly Json[] | undefined
  fields: Map<string, FieldShape>
  /** The fields that have a default. */
  defaults: DefaultedField[]
  /** Whether strict mode rejects undeclared fields. */
  isClosed: boolean
  /** The keys of `patternProperties`. A field that matches one is declared, but never adapted. */
  patterns: Matcher[]
  /** The shape of undeclared fields, if the schema describes them. */
  others: Shape | undefined
  /** The shapes of `prefixItems`. */
  firstItems: Shape[]
  items: Shape | undefined
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
  const checkOf = createChecks(linear.formats, lookup)
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
    patterns: Object.keys(isJsonObject(patternProperties) ? patternProperties : {}).map(
      // A field that cannot be checked counts as declared, so that it is not adapted.
      (pattern) => compilePattern(pattern) ?? (() => true),
    ),
    others: undefined,
    firstItems: [],
    items: undefined,
    accepts,
    restrictsScalars: restrictsScalars(schema),
  }
}
