import { canonicalJson } from '../../core/json/canonical-json.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { getNonNullAlternative, getRefTarget, type Lookup, mapSubschemas } from '../subschemas.ts'

/** Takes the place of `uniqueItems`. The validator ignores it. */
const UNIQUE_ITEMS = 'x-uniqueItems'

/** Keywords whose subschemas do not simply apply: whether a value violates one depends on the outcome of others. */
const CONDITIONAL = (
  'anyOf oneOf not if contains dependentSchemas patternProperties unevaluatedItems ' +
  'unevaluatedProperties $dynamicRef'
).split(' ')

/**
 * Leaves `uniqueItems` to `findDuplicates`, because the validator compares every item with every other. A schema with
 * conditional parts is returned unchanged; an alternative to null is none.
 */
export function takeUniqueItems(schema: JsonObject): JsonObject {
  let hasUniqueItems = false
  let isConditional = false
  const taken = mapSubschemas(schema, (part) => {
    const { uniqueItems, ...others } = part
    isConditional ||=
      CONDITIONAL.some((keyword) => Object.hasOwn(part, keyword)) && getNonNullAlternative(part) === undefined
    if (uniqueItems !== true) return part
    hasUniqueItems = true
    return { ...others, [UNIQUE_ITEMS]: true }
  })
  return hasUniqueItems && !isConditional ? taken : schema
}

/** The paths of arrays with duplicate items, where a schema of `takeUniqueItems` forbids them. */
export function* findDuplicates(
  value: Json,
  schema: Json | undefined,
  lookup: Lookup,
  path: readonly string[] = [],
): Generator<readonly string[]> {
  if (!isJsonObject(schema) || typeof value !== 'object' || value === null) return
  const { allOf, properties, additionalProperties, prefixItems, items } = schema
  const same = [getRefTarget(schema, lookup) as Json | undefined, getNonNullAlternative(schema)]
  for (const part of [...same, ...(Array.isArray(allOf) ? allOf : [])])
    yield* findDuplicates(value, part, lookup, path)
  if (Array.isArray(value)) {
    if (schema[UNIQUE_ITEMS] && new Set(value.map(canonicalJson)).size < value.length) yield path
    const first = Array.isArray(prefixItems) ? prefixItems : []
    for (const [index, item] of value.entries())
      yield* findDuplicates(item, index < first.length ? first[index] : items, lookup, [...path, `${index}`])
  } else {
    const declared = isJsonObject(properties) ? properties : {}
    for (const [name, member] of Object.entries(value)) {
      const part = Object.hasOwn(declared, name) ? declared[name] : additionalProperties
      yield* findDuplicates(member, part, lookup, [...path, name])
    }
  }
}
