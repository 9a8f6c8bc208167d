import { type Schema, schemaArrayKeyword, schemaKeyword, schemaMapKeyword } from '@cfworker/json-schema'
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts'

/** Every subschema by its absolute URI, as returned by the validator's `dereference`. */
export type Lookup = Record<string, Schema | boolean>

/** Keywords whose subschemas may declare further fields of the same object. */
const COMPOSITION_KEYWORDS = '$ref $dynamicRef allOf anyOf oneOf if then else dependentSchemas'.split(' ')

/** Keywords that decide which fields besides `properties` an object may have. */
const OTHER_FIELDS_KEYWORDS =
  'additionalProperties patternProperties unevaluatedProperties propertyNames'.split(' ')

const CHILD_KEYWORDS = ['properties', 'items', 'prefixItems', ...OTHER_FIELDS_KEYWORDS]

export const isComposed = (schema: JsonObject): boolean => hasAny(schema, COMPOSITION_KEYWORDS)

export const restrictsOtherFields = (schema: JsonObject): boolean => hasAny(schema, OTHER_FIELDS_KEYWORDS)

export function getRefTarget(schema: JsonObject, lookup: Lookup): Schema | boolean | undefined {
  const { $ref, __absolute_ref__ } = schema as Schema
  return typeof $ref === 'string' ? lookup[__absolute_ref__ ?? $ref] : undefined
}

/** The target of `$ref`, unless the schema has other keywords for the parts of a value. */
export function getPureRefTarget(schema: JsonObject, lookup: Lookup): Schema | boolean | undefined {
  const { $ref: _, ...others } = schema
  return isComposed(others) || hasAny(others, CHILD_KEYWORDS) ? undefined : getRefTarget(schema, lookup)
}

/** The schema `X` of `anyOf: [X, null]` or `oneOf: [X, null]`, unless other keywords apply to a value's parts. */
export function getNonNullAlternative(schema: JsonObject): Json | undefined {
  const { anyOf, oneOf, ...others } = schema
  const alternatives = anyOf ?? oneOf
  if (!Array.isArray(alternatives) || (anyOf && oneOf)) return undefined
  if (isComposed(others) || hasAny(others, CHILD_KEYWORDS)) return undefined
  const nonNull = alternatives.filter((alternative) => !(isJsonObject(alternative) && isNull(alternative)))
  return nonNull.length === 1 ? nonNull[0] : undefined
}

/** Resolves references and null alternatives, and returns the first default on the way. Empty if nothing is found. */
export function resolveSchema(
  schema: Json | undefined,
  lookup: Lookup,
): { resolved: JsonObject; defaultValue: Json | undefined } {
  let part = schema
  let defaultValue: Json | undefined
  for (const seen = new Set<Json>(); isJsonObject(part) && !seen.has(part); ) {
    seen.add(part)
    if (defaultValue === undefined) defaultValue = part.default
    const next = (getPureRefTarget(part, lookup) as Json | undefined) ?? getNonNullAlternative(part)
    if (next === undefined) return { resolved: part, defaultValue }
    part = next
  }
  return { resolved: {}, defaultValue }
}

/** Copies a schema with a function applied to it and to each subschema, from the outside in. */
export function mapSubschemas(
  schema: JsonObject,
  map: (schema: JsonObject, path: readonly string[]) => JsonObject,
  path: readonly string[] = [],
): JsonObject {
  const mapAt = (value: Json, ...names: string[]): Json =>
    isJsonObject(value) ? mapSubschemas(value, map, [...path, ...names]) : value
  const entries = Object.entries(map(schema, path)).map(([keyword, value]): [string, Json] => {
    if (Array.isArray(value) && keyword in schemaArrayKeyword)
      return [keyword, value.map((part, index) => mapAt(part, keyword, `${index}`))]
    if (isJsonObject(value) && keyword in schemaMapKeyword) {
      const parts = Object.entries(value).map(([name, part]) => [name, mapAt(part, keyword, name)])
      return [keyword, Object.fromEntries(parts)]
    }
    return [keyword, keyword in schemaKeyword ? mapAt(value, keyword) : value]
  })
  return Object.fromEntries(entries)
}

const isNull = ({ type, const: constant }: JsonObject) => type === 'null' || constant === null

const hasAny = (schema: JsonObject, keywords: string[]) =>
  keywords.some((keyword) => Object.hasOwn(schema, keyword))
