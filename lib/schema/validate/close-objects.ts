import type { Schema } from '@cfworker/json-schema'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { formBesideNull, isComposed, isSilent, type Lookup, referred } from '../subschemas.ts'

/**
 * A copy of a schema in which an object that declares `properties`, and leaves open whether it takes others, takes no
 * others. What a schema composes (allOf, anyOf, if, patternProperties, …) stays as it is with everything below it:
 * there a field may be declared elsewhere. A reference is followed to a closed copy, which is added to `lookup`.
 */
export function closeObjects(schema: JsonObject, lookup: Lookup): JsonObject {
  const closedUris = new Map<unknown, string>()

  function close(part: JsonObject): JsonObject {
    const target = referred(part, lookup)
    if (isJsonObject(target)) return { ...part, $ref: closedUri(target) }
    const form = formBesideNull(part)
    if (form !== undefined) return closeForm(part, form)
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
      if (isSilent(part)) closed.additionalProperties = false
    }
    return closed
  }

  const closeAny = (part: Json): Json => (isJsonObject(part) ? close(part) : part)

  function closeForm(part: JsonObject, form: Json): JsonObject {
    const keyword = part.anyOf ? 'anyOf' : 'oneOf'
    const forms = part[keyword] as Json[]
    return { ...part, [keyword]: forms.map((each) => (each === form ? closeAny(each) : each)) }
  }

  /** Known before its schema is closed, so that a schema may refer to itself. */
  function closedUri(target: JsonObject): string {
    const known = closedUris.get(target)
    if (known !== undefined) return known
    const uri = `closed:${closedUris.size}`
    closedUris.set(target, uri)
    lookup[uri] = close(target) as Schema
    return uri
  }

  return lookup[closedUri(schema)] as JsonObject
}
