import type { Schema } from '@cfworker/json-schema'
import type { Violation } from '../../core/errors.ts'
import { isJsonObject, type Json, type JsonObject, mapExactNumbers } from '../../core/json/json.ts'
import { MAX_VIOLATIONS } from '../../core/limits.ts'
import { toJsonPointer, truncate } from '../message-text.ts'
import {
  getNonNullAlternative,
  getPureRefTarget,
  isComposed,
  type Lookup,
  restrictsOtherFields,
} from '../subschemas.ts'

/** Returns the violations of a value; empty when it is valid. */
export type Validator = (value: unknown) => Violation[]

/**
 * Copies a schema and sets `additionalProperties: false` on every object that declares `properties` and does not say
 * whether other fields are allowed. Composed schemas (allOf, anyOf, if, patternProperties, ...) are copied unchanged
 * with everything below them, because another subschema may declare the field. References point to closed copies, which
 * are added to `lookup`.
 */
export function closeObjects(schema: JsonObject, lookup: Lookup): JsonObject {
  const closedUris = new Map<unknown, string>()

  function close(part: JsonObject): JsonObject {
    const target = getPureRefTarget(part, lookup)
    if (isJsonObject(target)) return { ...part, $ref: closedUriOf(target) }
    const alternative = getNonNullAlternative(part)
    if (alternative !== undefined) return closeAlternative(part, alternative)
    if (isComposed(part) || Object.hasOwn(part, 'patternProperties')) return part
    const { properties, items, prefixItems, additionalProperties } = part
    const closed = { ...part }
    if (items !== undefined) closed.items = closeAny(items)
    if (Array.isArray(prefixItems)) closed.prefixItems = prefixItems.map(closeAny)
    if (additionalProperties !== undefined) closed.additionalProperties = closeAny(additionalProperties)
    if (isJsonObject(properties)) {
      closed.properties = Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, closeAny(property)]),
      )
      if (!restrictsOtherFields(part)) closed.additionalProperties = false
    }
    return closed
  }

  const closeAny = (part: Json): Json => (isJsonObject(part) ? close(part) : part)

  function closeAlternative(part: JsonObject, alternative: Json): JsonObject {
    const keyword = part.anyOf ? 'anyOf' : 'oneOf'
    const alternatives = part[keyword] as Json[]
    return { ...part, [keyword]: alternatives.map((each) => (each === alternative ? closeAny(each) : each)) }
  }

  /** Registers the URI before closing the schema, so that recursive schemas terminate. */
  function closedUriOf(target: JsonObject): string {
    const known = closedUris.get(target)
    if (known !== undefined) return known
    const uri = `closed:${closedUris.size}`
    closedUris.set(target, uri)
    lookup[uri] = close(target) as Schema
    return uri
  }

  return lookup[closedUriOf(schema)] as JsonObject
}

/** A validator in which every number is the nearest double. */
export const roundNumbers =
  (validate: Validator): Validator =>
  (value) =>
    validate(mapExactNumbers(value as Json, (number) => number.toDouble()))

/**
 * Strict mode for a value in which a double cannot hold every number: as the nearest doubles, and then as objects,
 * which no number field accepts. A field that accepts both has no type that a rounded number would violate.
 */
export function validateExactNumbers(value: Json, validateDoubles: Validator): Violation[] {
  const paths: string[] = []
  const rounded = mapExactNumbers(value, (number, path) => {
    paths.push(toJsonPointer(path))
    return number.toDouble()
  })
  const violations = validateDoubles(rounded)
  if (paths.length === 0 || violations.length > 0) return violations
  const invalid = new Set(validateDoubles(mapExactNumbers(value, () => ({}))).map(({ path }) => path))
  if (invalid.size === 0) return []
  const inNumberFields = paths.filter((path) => invalid.has(path))
  return (inNumberFields.length > 0 ? inNumberFields : paths).slice(0, MAX_VIOLATIONS).map((path) => ({
    path,
    message: `${truncate(path, 100)} must be a number that a double can hold exactly.`,
  }))
}
