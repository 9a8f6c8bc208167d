import type { Json, JsonObject } from '../../lib/core/json/json.ts'
import { describeField } from '../schema/form/field.ts'
import { openSchema, readPart, type SchemaView } from '../schema/schema-view.ts'

const MAX_DEPTH = 8
const TEXT = 'Write to ada@example.com or call +44 20 7946 0958.'

const FORMATS: Record<string, string> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  time: '12:00:00Z',
  email: 'ada@example.com',
  uri: 'https://example.com/',
  uuid: '01a2003b-8f87-750a-aa33-59d20cae9811',
}

/** An input that matches a schema in its types and bounds; null if only a person can choose one, such as a file. */
export function sampleInput(declared: JsonObject): JsonObject | null {
  const view = openSchema(declared)
  return (sampleOf(view.root, view, 0) as JsonObject | undefined) ?? null
}

function sampleOf(part: Json | undefined, view: SchemaView, depth: number): Json | undefined {
  const { schema = {}, isNullable } = readPart(part, view) ?? {}
  const field = describeField(part, view)
  const [example] = Array.isArray(schema.examples) ? schema.examples : []
  if (field.default !== undefined) return field.default
  if (example !== undefined) return example
  if (depth > MAX_DEPTH) return undefined
  switch (field.kind) {
    case 'choice':
      return field.choices[0]
    case 'text':
      return sampleText(schema)
    case 'number':
      return sampleNumber(schema)
    case 'boolean':
      return true
    case 'list': {
      const items = Array.from({ length: field.minItems }, () => sampleOf(field.items, view, depth + 1))
      return allKnown(items)
    }
    case 'object': {
      const given = field.fields.filter(
        ({ isRequired, schema }) => isRequired || describeField(schema, view).default !== undefined,
      )
      const values = allKnown(given.map(({ schema: part }) => sampleOf(part, view, depth + 1)))
      return values && Object.fromEntries(given.map(({ name }, index) => [name, values[index] ?? null]))
    }
    case 'null':
      return null
    default:
      if (isNullable) return null
      return depth === 0 && schema.type === 'object' ? {} : undefined
  }
}

const allKnown = (values: (Json | undefined)[]): Json[] | undefined =>
  values.some((value) => value === undefined) ? undefined : (values as Json[])

function sampleText({ format, pattern, minLength, maxLength }: JsonObject): string | undefined {
  if (pattern !== undefined) return undefined
  if (typeof format === 'string') return FORMATS[format]
  const text = TEXT.padEnd(Number(minLength ?? 0), '.')
  return typeof maxLength === 'number' ? text.slice(0, maxLength) : text
}

function sampleNumber({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject) {
  const unit = typeof multipleOf === 'number' ? multipleOf : 1
  const min = Math.max(Number(minimum ?? -Infinity), Number(exclusiveMinimum ?? -Infinity) + unit)
  const max = Math.min(Number(maximum ?? Infinity), Number(exclusiveMaximum ?? Infinity) - unit)
  const wanted = Math.min(Math.max(unit, min), max)
  const value = Math.ceil(wanted / unit) * unit
  return value > max || value < min ? undefined : value
}
