import type { JsonObject } from '../core/json/json.ts'
import type { MediaType } from '../core/media.ts'
import { toFileSchema } from './files/file-schema.ts'

export const FIELD_TYPES = [
  ...(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const),
  /** An image or a PDF, in an input: an object with `mediaType` and `data`. */
  'file',
] as const

/** A field of a field map, or the items of an array: JSON Schema keywords, with `required` on the field itself. */
export type Field = {
  type: (typeof FIELD_TYPES)[number]
  description?: string | undefined
  required?: boolean | undefined
  enum?: unknown[] | undefined
  items?: Field | undefined
  properties?: Record<string, Field> | undefined
  default?: unknown
  mediaTypes?: MediaType[] | undefined
  maxBytes?: number | undefined
} & Bounds

/** Bounds of a value, and the types of field that may have them. */
export const BOUNDS = {
  minLength: ['string'],
  maxLength: ['string'],
  pattern: ['string'],
  format: ['string'],
  minimum: ['number', 'integer'],
  maximum: ['number', 'integer'],
  minItems: ['array'],
  maxItems: ['array'],
} as const satisfies Record<string, readonly (typeof FIELD_TYPES)[number][]>

type Bounds = {
  [Name in keyof typeof BOUNDS]?: (Name extends 'pattern' | 'format' ? string : number) | undefined
}

/** The formats of JSON Schema (2020-12, section 7.3) that the validator checks. */
export const FORMATS = (
  'date-time date time duration email hostname ipv4 ipv6 uri uri-reference uri-template uuid ' +
  'json-pointer relative-json-pointer regex'
).split(' ')

export type FieldMap = Record<string, Field>

/** Whether a declared schema is a JSON Schema rather than a field map. The fields of a field map are never strings. */
export function isJsonSchema(declared: JsonObject): boolean {
  return typeof declared.$schema === 'string' || typeof declared.type === 'string'
}

/** Converts a declared schema to JSON Schema (2020-12). Objects of a field map do not allow undeclared fields. */
export function toJsonSchema(declared: JsonObject): JsonObject {
  if (isJsonSchema(declared)) return declared
  return toObjectSchema(declared as unknown as FieldMap)
}

function toObjectSchema(fields: FieldMap): JsonObject {
  const entries = Object.entries(fields)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, field]) => [name, toFieldSchema(field)])),
    required: entries
      .filter(([, field]) => field.required ?? field.default === undefined)
      .map(([name]) => name),
    additionalProperties: false,
  }
}

function toFieldSchema(field: Field): JsonObject {
  if (field.type === 'file') return toFileSchema(field)
  const { required: _, items, properties, ...keywords } = field
  const nested = properties ? toObjectSchema(properties) : {}
  return { ...(keywords as JsonObject), ...(items && { items: toFieldSchema(items) }), ...nested }
}
