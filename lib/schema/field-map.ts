import type { JsonObject } from '../core/json.ts'

export const FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const

/** One field of a field map, or the items of a list: a JSON Schema's keywords, with `required` said of the field itself. */
export type Field = {
  type: (typeof FIELD_TYPES)[number]
  description?: string | undefined
  required?: boolean | undefined
  enum?: unknown[] | undefined
  items?: Field | undefined
  properties?: Record<string, Field> | undefined
  default?: unknown
}

export type FieldMap = Record<string, Field>

/** Whether a declared schema is a whole JSON Schema rather than a field map: a field's value is never a plain string. */
export function isJsonSchema(declared: JsonObject): boolean {
  return typeof declared.$schema === 'string' || typeof declared.type === 'string'
}

/** The JSON Schema (2020-12) of a declared schema. Objects of a field map take no unknown fields. */
export function toJsonSchema(declared: JsonObject): JsonObject {
  if (isJsonSchema(declared)) return declared
  return objectSchema(declared as unknown as FieldMap)
}

function objectSchema(fields: FieldMap): JsonObject {
  const names = Object.keys(fields)
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, fieldToSchema(fields[name] as Field)])),
    required: names.filter((name) => isRequired(fields[name] as Field)),
    additionalProperties: false,
  }
}

function fieldToSchema(field: Field): JsonObject {
  const { required: _, items, properties, ...keywords } = field
  const nested = properties ? objectSchema(properties) : {}
  return { ...(keywords as JsonObject), ...(items && { items: fieldToSchema(items) }), ...nested }
}

const isRequired = (field: Field): boolean => field.required ?? field.default === undefined
