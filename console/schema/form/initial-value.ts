import type { Json } from '../../../lib/core/json.ts'
import { emptyList, emptyObject, textNode, valueNode } from '../json/json-edit.ts'
import type { JsonNode } from '../json/json-node.ts'
import type { SchemaView } from '../schema-view.ts'
import { describeField } from './field.ts'

/** A schema that requires itself has no value. */
const MAX_DEPTH = 10

/**
 * What a form begins with: defaults, and objects and lists that are required. Undefined for a value that only a person can
 * choose.
 */
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

/** A new item of a list: there must be something to see. */
export const newItem = (part: Json, view: SchemaView, depth = 0): JsonNode =>
  initialValue(part, view, depth) ??
  (describeField(part, view).kind === 'text' ? textNode('') : valueNode(null))

/** With one item, if the list must not be empty. */
const listOf = (part: Json, view: SchemaView, depth: number): JsonNode => ({
  ...emptyList(),
  type: 'array',
  items: [newItem(part, view, depth + 1)],
})
