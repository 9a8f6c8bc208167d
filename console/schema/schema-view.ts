import { dereference, type Schema } from '@cfworker/json-schema'
import { isJsonObject, type Json, type JsonObject } from '../../lib/core/json/json.ts'
import { toJsonSchema } from '../../lib/schema/field-map.ts'
import { getNonNullAlternative, getRefTarget, isComposed, type Lookup } from '../../lib/schema/subschemas.ts'

/** A declared schema as JSON Schema, with what its references point to. */
export type SchemaView = { root: JsonObject; lookup: Lookup }

/** @param declared as the API returns it: a field map or a JSON Schema */
export function openSchema(declared: JsonObject): SchemaView {
  // `dereference` adds properties to the schema.
  const root = structuredClone(toJsonSchema(declared))
  return { root, lookup: dereference(root as Schema) }
}

/** A part of a schema with its references followed. `isNullable`: null is allowed besides what `schema` says. */
export type Part = { schema: JsonObject; isNullable: boolean }

const MAX_REFERENCES = 32

/** Keywords that describe a value and do not restrict it. */
const ANNOTATIONS = ['title', 'description', 'default', 'deprecated', 'examples']

/**
 * Follows references and takes null out of `type` and of alternatives. What is left is as simple as it can be: it may
 * still be composed of several schemas. Undefined for a boolean schema, and for references that lead nowhere.
 */
export function readPart(part: Json | undefined, { lookup }: SchemaView): Part | undefined {
  let schema = part
  let isNullable = false
  let annotations: JsonObject = {}
  for (let count = 0; count < MAX_REFERENCES; count += 1) {
    if (!isJsonObject(schema)) return undefined
    const alternative = getNonNullAlternative(schema)
    const next = (getRefTarget(schema, lookup) as Json | undefined) ?? alternative
    const { $ref, anyOf, oneOf, ...others } = schema
    const isSimple =
      isJsonObject(next) && Object.keys(others).every((keyword) => ANNOTATIONS.includes(keyword))
    // A reference beside other rules cannot be told as one type.
    if (!isSimple) return withoutNull({ ...schema, ...annotations }, isNullable)
    isNullable ||= alternative !== undefined
    annotations = { ...others, ...annotations }
    schema = next
  }
  return undefined
}

function withoutNull(schema: JsonObject, isNullable: boolean): Part {
  const { type } = schema
  if (!Array.isArray(type) || !type.includes('null') || type.length === 1) return { schema, isNullable }
  const others = type.filter((name) => name !== 'null')
  return { schema: { ...schema, type: others.length === 1 ? (others[0] ?? null) : others }, isNullable: true }
}

/** The type of a part that has exactly one. */
export function typeOf(schema: JsonObject): string | undefined {
  if (typeof schema.type === 'string') return schema.type
  if (schema.type !== undefined || isComposed(schema)) return undefined
  if (isJsonObject(schema.properties)) return 'object'
  return isJsonObject(schema.items) ? 'array' : undefined
}

export function fieldsOf(schema: JsonObject): { name: string; schema: Json; isRequired: boolean }[] {
  const required = Array.isArray(schema.required) ? schema.required : []
  return Object.entries(isJsonObject(schema.properties) ? schema.properties : {}).map(([name, part]) => ({
    name,
    schema: part,
    isRequired: required.includes(name),
  }))
}
