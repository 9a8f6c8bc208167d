import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { parseJsonPointer } from '../../core/json/pointer.ts'
import { jsonTypeOf } from '../../schema/message-text.ts'

/** Keywords from which the type of a schema that declares none follows. */
const TYPES_BY_KEYWORD: Record<string, string[]> = {
  object: ['properties', 'required', 'additionalProperties', 'patternProperties'],
  array: ['items', 'prefixItems', 'minItems', 'maxItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
}

/** The types of a schema, declared or from its other keywords; none if it allows any value. */
export function typesOf(schema: JsonObject): string[] {
  const { type } = schema
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return type.filter((each) => typeof each === 'string')
  const values = 'const' in schema ? [schema.const as Json] : schema.enum
  if (Array.isArray(values)) return [...new Set(values.map(jsonTypeOf))]
  const found = Object.entries(TYPES_BY_KEYWORD).find(([, keywords]) =>
    keywords.some((keyword) => keyword in schema),
  )
  return found ? [found[0]] : []
}

/** The schema that a reference within the document refers to; null if there is none. */
export function resolveRef(ref: string, root: JsonObject): JsonObject | null {
  if (!ref.startsWith('#')) return null
  try {
    const path = parseJsonPointer(decodeURIComponent(ref.slice(1)))
    const target = path.reduce<Json | undefined>(
      (value, key) =>
        Array.isArray(value) ? value[Number(key)] : isJsonObject(value) ? value[key] : undefined,
      root,
    )
    return isJsonObject(target) ? target : null
  } catch {
    return null
  }
}

/** Keywords of which the first is as good as any. */
const ANNOTATIONS = ['title', 'description', 'default', 'examples', '$comment', '$schema', '$id']

/** One schema that means the same as several together; null if they differ in a keyword. */
export function mergeSchemas(schemas: (Json | undefined)[], root: JsonObject): JsonObject | null {
  let merged: JsonObject = {}
  for (const schema of schemas) {
    const next = isJsonObject(schema) && merge(merged, expandRef(schema, merged, root), root)
    if (!next) return null
    merged = next
  }
  return merged
}

/** A reference is only kept as long as there is one. */
function expandRef(schema: JsonObject, base: JsonObject, root: JsonObject): JsonObject {
  const { $ref, ...others } = schema
  if (typeof $ref !== 'string' || base.$ref === undefined || base.$ref === $ref) return schema
  const target = resolveRef($ref, root)
  return (target && merge(target, others, root)) ?? schema
}

function merge(base: JsonObject, added: JsonObject, root: JsonObject): JsonObject | null {
  const merged = { ...base }
  for (const [keyword, value] of Object.entries(added)) {
    const known = merged[keyword]
    if (known === undefined || JSON.stringify(known) === JSON.stringify(value)) merged[keyword] = value
    else if (keyword === 'required' && Array.isArray(known) && Array.isArray(value))
      merged[keyword] = [...new Set([...known, ...value])]
    else if (keyword === 'properties' && isJsonObject(known) && isJsonObject(value)) {
      const properties = mergeProperties(known, value, root)
      if (!properties) return null
      merged[keyword] = properties
    } else if (keyword === 'additionalProperties' && (known === true || value === true))
      merged[keyword] = known === true ? value : known
    else if (!ANNOTATIONS.includes(keyword)) return null
  }
  return merged
}

function mergeProperties(known: JsonObject, added: JsonObject, root: JsonObject): JsonObject | null {
  const merged = new Map(Object.entries(known))
  for (const [name, schema] of Object.entries(added)) {
    const both = merged.has(name) ? mergeSchemas([merged.get(name), schema], root) : schema
    if (both === null) return null
    merged.set(name, both)
  }
  return Object.fromEntries(merged)
}
