import { format, type Schema, validate } from '@cfworker/json-schema'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Matcher } from '../patterns/compile-pattern.ts'
import type { Lookup } from '../subschemas.ts'
import { withFormats } from '../validate/formats.ts'

/** Keywords that restrict a value no further than its type and parts do, which adaptation checks itself. */
const PLAIN_KEYWORDS = new Set([
  'type',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'prefixItems',
])

/** The validator's own keywords start with `__`. */
const isPlain = (keyword: string) => PLAIN_KEYWORDS.has(keyword) || keyword.startsWith('__')

/** Whether a schema accepts a value, its parts included. */
export type ValueCheck = (value: Json) => boolean

/** Whether scalars of the right type can violate a schema. */
export const restrictsScalars = (schema: JsonObject): boolean =>
  Object.keys(schema).some((keyword) => !isPlain(keyword))

/** The validator takes ten times as long as the format itself. */
const hasOnlyFormat = (schema: JsonObject): boolean =>
  schema.type === 'string' &&
  schema.format !== undefined &&
  Object.keys(schema).every((keyword) => keyword === 'format' || isPlain(keyword))

/**
 * Returns a function that makes a check for each subschema of a schema, in which patterns are already linear. A schema
 * that cannot be checked accepts nothing, so that no change depends on it.
 */
export function createChecks(
  formats: Record<string, Matcher>,
  lookup: Lookup,
): (schema: JsonObject) => ValueCheck {
  return (schema) => (value) => {
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
