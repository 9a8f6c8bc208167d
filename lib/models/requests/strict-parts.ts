import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { JsonError, parseModelJson } from '../../core/json/parse-json.ts'

/** What a provider accepts in strict mode beyond types, fields and alternatives. */
export type StrictRules = {
  /** Keywords that it enforces. */
  keywords: readonly string[]
  formats: readonly string[]
  /** The most in one request, in the schemas of all tools. */
  limits?: { tools: number; unions: number; optional: number }
}

/** Keywords that say nothing about a value, or that the conversion reads. */
const STRUCTURE =
  '$schema $id $comment $defs definitions title description type enum const properties required items anyOf oneOf ' +
  'additionalProperties unevaluatedProperties readOnly writeOnly deprecated'
const READ = new Set(STRUCTURE.split(' '))

/** The keywords that the provider enforces, and a description with the others. */
export function describe(schema: JsonObject, { keywords, formats }: StrictRules): JsonObject {
  const isEnforced = (keyword: string, value: Json) =>
    (keyword === 'format' && formats.includes(String(value))) ||
    (keyword === 'minItems' && (value === 0 || value === 1)) ||
    keywords.includes(keyword)
  const kept: [string, Json][] = []
  const notes: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    const isChoice = (keyword === 'anyOf' || keyword === 'oneOf') && Array.isArray(value)
    if (READ.has(keyword) && !isChoice) continue
    if (isEnforced(keyword, value)) kept.push([keyword, value])
    else notes.push(`${keyword}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  }
  const { title, description } = schema
  const text = [description ?? title, notes.length > 0 && `(${notes.join('; ')})`].filter(Boolean).join(' ')
  return { ...(text !== '' && { description: text }), ...Object.fromEntries(kept) }
}

/** A part of a strict schema, and the conversion of its values. */
export type Part = {
  schema: JsonObject
  /** From a value of the schema that it stands for. */
  encode: (value: Json) => Json
  /** From a value of the strict schema. */
  decode: (value: Json) => Json
  /** Whether null stands for a missing field. */
  dropsNull?: boolean
}

const same = (value: Json): Json => value
export const IDENTITY = { encode: same, decode: same }

/** A value of any form, as a text that contains JSON. */
export function jsonText(schema: Json | undefined, root: JsonObject): Part {
  const { description, ...form } = isJsonObject(schema) ? schema : {}
  const text = JSON.stringify(form)
  const definitions = text.includes('"$ref"') ? pick(root, '$defs', 'definitions') : {}
  const isAny = Object.keys(form).length === 0
  const note = isAny ? 'JSON text' : `JSON text that matches ${JSON.stringify({ ...form, ...definitions })}`
  return {
    schema: { type: 'string', description: [description, note].filter(Boolean).join(' ') },
    encode: (value) => JSON.stringify(value),
    decode: (value) => (typeof value === 'string' ? parsed(value) : value),
  }
}

const pick = (from: JsonObject, ...names: string[]): JsonObject =>
  Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)))

/** A model may also write the text that it means. */
function parsed(text: string): Json {
  try {
    return parseModelJson(text)
  } catch (error) {
    if (error instanceof JsonError) return text
    throw error
  }
}

/** A part that is no object, as the only field of one. */
export const wrapPart = (part: Part): Part => ({
  schema: {
    type: 'object',
    properties: { value: part.schema },
    required: ['value'],
    additionalProperties: false,
  },
  encode: (value) => ({ value: part.encode(value) }),
  decode: (value) => (isJsonObject(value) && value.value !== undefined ? part.decode(value.value) : value),
})

/** One of several parts: the first that a value fits. */
export function anyOfPart(parts: Part[]): Part {
  return {
    schema: { anyOf: parts.map(({ schema }) => schema) },
    encode(value) {
      for (const part of parts) {
        const encoded = part.encode(value)
        if (fits(part.schema, encoded)) return encoded
      }
      return value
    },
    decode: (value) => parts.find(({ schema }) => fits(schema, value))?.decode(value) ?? value,
  }
}

/** Whether a value has the form of a strict schema, whose bounds do not matter here. */
function fits(schema: JsonObject, value: Json): boolean {
  const { anyOf, type, enum: values, properties, required, items } = schema
  if (Array.isArray(anyOf)) return anyOf.some((branch) => fits(branch as JsonObject, value))
  if (Array.isArray(values) && !values.some((each) => each === value)) return false
  if (!(Array.isArray(type) ? type : [type]).some((each) => isOfType(value, each))) return false
  if (Array.isArray(value)) return value.every((item) => fits(items as JsonObject, item))
  if (!isJsonObject(value) || !isJsonObject(properties)) return true
  return (
    Object.entries(value).every(([name, member]) => {
      const field = properties[name]
      return isJsonObject(field) && fits(field, member)
    }) && (required as string[]).every((name) => name in value)
  )
}

function isOfType(value: Json, type: Json | undefined): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isJsonObject(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

export type FieldRules = {
  /** Whether optional fields are required and may be null; else they may be missing. */
  isNullable: boolean
  /** What counts toward limits: values with alternatives, and fields that may be missing. */
  counts: { unions: number; optional: number }
}

/** A field that may be missing: null stands for that, unless null is one of its values. */
export function toOptional(part: Part, { isNullable, counts }: FieldRules): Part {
  if (!isNullable) {
    counts.optional++
    return part
  }
  const { type, anyOf, enum: values } = part.schema
  const hasNull = [type, ...(Array.isArray(anyOf) ? anyOf.map((branch) => (branch as JsonObject).type) : [])]
  if (hasNull.flat().includes('null')) return part
  counts.unions++
  if (Array.isArray(anyOf))
    return { ...part, schema: { ...part.schema, anyOf: [...anyOf, { type: 'null' }] }, dropsNull: true }
  if (type === 'object' || type === 'array')
    return { ...part, schema: { anyOf: [part.schema, { type: 'null' }] }, dropsNull: true }
  const schema = {
    ...part.schema,
    type: [type, 'null'].flat() as Json,
    ...(Array.isArray(values) && { enum: [...values, null] }),
  }
  return { ...part, schema, dropsNull: true }
}
