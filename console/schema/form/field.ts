import { isJsonObject, type Json, type JsonObject } from '../../../lib/core/json/json.ts'
import { type FileLimits, readFileLimits } from '../../../lib/schema/files/file-schema.ts'
import { isComposed } from '../../../lib/schema/subschemas.ts'
import { formatBytes } from '../../components/format.ts'
import { emptyList, emptyObject, printJson, textNode, valueNode } from '../json-edit.ts'
import type { JsonNode } from '../json-node.ts'
import { fieldsOf, openSchema, readPart, type SchemaView, typeOf } from '../schema-view.ts'
import { TIME_FORMATS, type TimeFormat } from './time-value.ts'

/** How a part of an input is edited. `json`: what has no control of its own is edited as JSON. */
export type Field = {
  title: string | undefined
  description: string | undefined
  isNullable: boolean
  /** Undefined if the schema has none. */
  default: Json | undefined
  /** Format and bounds, for people. */
  hint: string
} & FieldKind

type FieldKind =
  | { kind: 'text'; isLine: boolean; inputMode: 'text' | 'email' | 'url' }
  | { kind: 'time'; format: TimeFormat }
  | { kind: 'number' }
  | { kind: 'boolean' }
  | { kind: 'choice'; choices: Json[] }
  | { kind: 'object'; fields: ReturnType<typeof fieldsOf> }
  | { kind: 'list'; items: Json; minItems: number }
  | { kind: 'file'; limits: FileLimits }
  | { kind: 'null' }
  | { kind: 'json' }

/** Formats of which a text is one line. */
const INPUT_MODES: Record<string, 'text' | 'email' | 'url'> = { email: 'email', uri: 'url' }

/** Longer texts need room for several lines. */
const MAX_LINE = 100

export function describeField(part: Json | undefined, view: SchemaView): Field {
  const { schema, isNullable } = readPart(part, view) ?? { schema: {}, isNullable: false }
  return {
    title: asText(schema.title),
    description: asText(schema.description),
    isNullable,
    default: schema.default,
    hint: describeBounds(schema).join(', '),
    ...kindOf(schema),
  }
}

function kindOf(schema: JsonObject): FieldKind {
  if (isComposed(schema)) return { kind: 'json' }
  const limits = readFileLimits(schema)
  if (limits) return { kind: 'file', limits }
  if (Array.isArray(schema.enum)) return { kind: 'choice', choices: schema.enum }
  if (schema.const !== undefined) return { kind: 'choice', choices: [schema.const] }
  switch (typeOf(schema)) {
    case 'string': {
      const format = TIME_FORMATS.find((name) => name === schema.format)
      return format ? { kind: 'time', format } : { kind: 'text', ...lineOf(schema) }
    }
    case 'number':
    case 'integer':
      return { kind: 'number' }
    case 'boolean':
      return { kind: 'boolean' }
    case 'null':
      return { kind: 'null' }
    case 'object': {
      const fields = fieldsOf(schema)
      // Without declared fields, or with fields of any name, a form could not offer them.
      const isOpen = isJsonObject(schema.patternProperties) || isJsonObject(schema.additionalProperties)
      return fields.length > 0 && !isOpen ? { kind: 'object', fields } : { kind: 'json' }
    }
    case 'array':
      return isJsonObject(schema.items) && schema.prefixItems === undefined
        ? { kind: 'list', items: schema.items, minItems: Number(schema.minItems ?? 0) }
        : { kind: 'json' }
    default:
      return { kind: 'json' }
  }
}

function lineOf({ format, maxLength, pattern }: JsonObject) {
  const isLine =
    typeof format === 'string' ||
    typeof pattern === 'string' ||
    (typeof maxLength === 'number' && maxLength <= MAX_LINE)
  return { isLine, inputMode: INPUT_MODES[String(format)] ?? 'text' }
}

/** The rules of one value besides its type: format, bounds and the like. */
export function describeBounds(schema: JsonObject): string[] {
  const { format, pattern, multipleOf, uniqueItems } = schema
  const file = readFileLimits(schema)
  return [
    ...(file ? [file.mediaTypes.join(', '), `at most ${formatBytes(file.maxBytes)}`] : []),
    ...(typeof format === 'string' ? [FORMATS[format] ?? format] : []),
    range(schema.minLength, schema.maxLength, 'character'),
    rangeOfNumber(schema),
    ...(typeof multipleOf === 'number' ? [`multiple of ${multipleOf}`] : []),
    range(schema.minItems, schema.maxItems, 'item'),
    ...(uniqueItems === true ? ['no duplicates'] : []),
    range(schema.minProperties, schema.maxProperties, 'field'),
    ...(typeof pattern === 'string' ? [`matches ${pattern}`] : []),
  ].filter((bound) => bound !== '')
}

const FORMATS: Record<string, string> = {
  date: 'date such as 2026-01-31',
  'date-time': 'date and time such as 2026-01-31T12:00:00Z',
  time: 'time such as 12:00:00Z',
  email: 'email address',
  uri: 'URI',
  uuid: 'UUID',
}

function range(min: Json | undefined, max: Json | undefined, noun: string): string {
  const plural = (count: Json) => `${count} ${noun}${count === 1 ? '' : 's'}`
  if (typeof min === 'number' && typeof max === 'number')
    return min === max ? `exactly ${plural(min)}` : `${min} to ${plural(max)}`
  if (typeof min === 'number' && min > 0) return `at least ${plural(min)}`
  return typeof max === 'number' ? `at most ${plural(max)}` : ''
}

function rangeOfNumber({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonObject): string {
  if (typeof minimum === 'number' && typeof maximum === 'number') return `from ${minimum} to ${maximum}`
  return [
    typeof minimum === 'number' && `at least ${minimum}`,
    typeof exclusiveMinimum === 'number' && `greater than ${exclusiveMinimum}`,
    typeof maximum === 'number' && `at most ${maximum}`,
    typeof exclusiveMaximum === 'number' && `less than ${exclusiveMaximum}`,
  ]
    .filter(Boolean)
    .join(', ')
}

const asText = (value: Json | undefined) => (typeof value === 'string' && value !== '' ? value : undefined)

/** A schema that requires itself has no value. */
const MAX_DEPTH = 10

/** What a form begins with: defaults, required objects and lists. Undefined for what only a person can choose. */
export function initialValue(part: Json | undefined, view: SchemaView, depth = 0): JsonNode | undefined {
  const field = describeField(part, view)
  if (field.default !== undefined) return valueNode(field.default)
  if (field.isNullable || depth > MAX_DEPTH) return undefined
  if (field.kind === 'choice' && field.choices.length === 1) return valueNode(field.choices[0])
  if (field.kind === 'list') return field.minItems > 0 ? listOf(field.items, view, depth) : emptyList()
  if (field.kind === 'null') return valueNode(null)
  if (field.kind !== 'object') return undefined
  const members = field.fields.flatMap(({ name, schema, isRequired }) => {
    const hasDefault = describeField(schema, view).default !== undefined
    const value = isRequired || hasDefault ? initialValue(schema, view, depth + 1) : undefined
    return value ? [{ name, nameStart: 0, value }] : []
  })
  return { ...emptyObject(), type: 'object', members }
}

/** The same as JSON text. @param declared a field map or a JSON Schema */
export function initialText(declared: JsonObject): string {
  const view = openSchema(declared)
  const value = initialValue(view.root, view)
  return value ? printJson(value) : '{}'
}

/** A new item of a list: there must be something to see. */
export const newItem = (part: Json, view: SchemaView, depth = 0): JsonNode =>
  initialValue(part, view, depth) ??
  (/^(?:text|time)$/.test(describeField(part, view).kind) ? textNode('') : valueNode(null))

/** With one item, if the list must not be empty. */
const listOf = (part: Json, view: SchemaView, depth: number): JsonNode => ({
  ...emptyList(),
  type: 'array',
  items: [newItem(part, view, depth + 1)],
})
