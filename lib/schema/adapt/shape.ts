import { dereference, type Schema } from '@cfworker/json-schema'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { formBesideNull, isComposed, type Lookup, referred } from '../subschemas.ts'
import { closeObjects } from '../validate/close-objects.ts'

/** What adaptation needs to know of a schema. Shapes refer to each other as schemas do, in circles too. */
export type Shape = {
  /** undefined when the schema names no type. */
  types: ReadonlySet<string> | undefined
  /** The values of `enum` or `const`. */
  choices: readonly Json[] | undefined
  fields: Map<string, FieldShape>
  /** The fields that have a default. */
  defaults: DefaultedField[]
  /** Whether strict mode refuses a field of another name. */
  isClosed: boolean
  /** Of the names of `patternProperties`: such a field is known, but never adapted. */
  patterns: RegExp[]
  /** Of the fields with other names, when the schema says something of them. */
  others: Shape | undefined
  firstItems: Shape[]
  items: Shape | undefined
}

export type FieldShape = { name: string; shape: Shape; isRequired: boolean }

export type DefaultedField = FieldShape & { value: Json }

/**
 * Reads the shape of a JSON Schema, of its objects as strict mode takes them. `$ref` is followed, and `anyOf` or `oneOf` where it only adds null to one form.
 * Anything else that composes (allOf, anyOf, oneOf, if, not, …) says nothing here: what it allows is not certain.
 */
export function readShape(schema: JsonObject): { root: Shape; shapes: Shape[] } {
  const lookup = dereference(schema as Schema)
  const known = new Map<JsonObject, Shape>()

  function read(part: Json | undefined): Shape {
    const { plain } = seenThrough(part, lookup)
    const found = known.get(plain)
    if (found) return found
    const shape = emptyShape(plain)
    known.set(plain, shape)
    const { properties, required, additionalProperties, prefixItems, items } = plain
    for (const [name, property] of Object.entries(isJsonObject(properties) ? properties : {})) {
      const isRequired = Array.isArray(required) && required.includes(name)
      const field = { name, shape: read(property), isRequired }
      shape.fields.set(name, field)
      const preset = seenThrough(property, lookup).preset
      if (preset !== undefined) shape.defaults.push({ ...field, value: preset })
    }
    if (isJsonObject(additionalProperties) && Object.keys(additionalProperties).length > 0)
      shape.others = read(additionalProperties)
    if (Array.isArray(prefixItems)) shape.firstItems = prefixItems.map(read)
    if (isJsonObject(items)) shape.items = read(items)
    return shape
  }

  return { root: read(closeObjects(schema, lookup)), shapes: [...known.values()] }
}

function emptyShape(schema: JsonObject): Shape {
  const { type, enum: choices, const: constant, patternProperties } = schema
  const { additionalProperties, unevaluatedProperties } = schema
  return {
    types: type === undefined ? undefined : new Set([type].flat().map(String)),
    choices: constant !== undefined ? [constant] : Array.isArray(choices) ? choices : undefined,
    fields: new Map(),
    defaults: [],
    isClosed: additionalProperties === false || (unevaluatedProperties === false && !isComposed(schema)),
    patterns: Object.keys(isJsonObject(patternProperties) ? patternProperties : {}).map(
      (pattern) => new RegExp(pattern, 'u'),
    ),
    others: undefined,
    firstItems: [],
    items: undefined,
  }
}

/** A schema behind references and beside null, with the first default on the way; an empty one when there is none. */
function seenThrough(
  schema: Json | undefined,
  lookup: Lookup,
): { plain: JsonObject; preset: Json | undefined } {
  let part = schema
  let preset: Json | undefined
  for (const seen = new Set<Json>(); isJsonObject(part) && !seen.has(part); ) {
    seen.add(part)
    if (preset === undefined) preset = part.default
    const next = (referred(part, lookup) as Json | undefined) ?? formBesideNull(part)
    if (next === undefined) return { plain: part, preset }
    part = next
  }
  return { plain: {}, preset }
}
