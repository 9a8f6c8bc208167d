import type { Schema } from '@cfworker/json-schema'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import {
  getNonNullAlternative,
  getPureRefTarget,
  isComposed,
  type Lookup,
  restrictsOtherFields,
} from '../subschemas.ts'

/**
 * Copies a schema and sets `additionalProperties: false` on every object that declares `properties` and does not say
 * whether other fields are allowed. Composed schemas (allOf, anyOf, if, patternProperties, ...) are copied unchanged with
 * everything below them, because another subschema may declare the field. References point to closed copies, which are
 * added to `lookup`.
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
