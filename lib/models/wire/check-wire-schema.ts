import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import type { SchemaProblem } from '../../schema/check-declared-schema.ts'
import { hasComposedRoot } from './wire-schema.ts'

/** Keywords that a schema cannot have once it is no longer the root: what refers to them would lead elsewhere. */
const FIXED_KEYWORDS = ['$id', '$anchor', '$dynamicAnchor', '$dynamicRef']

/** What prevents a declared schema from being sent to models, when its agent is published. */
export function checkWireSchema(declared: JsonObject): SchemaProblem[] {
  if (!hasComposedRoot(declared) || typeof declared.type !== 'string') return []
  const path = findKeyword(declared, [])
  const message =
    'cannot be sent to models together with allOf, anyOf, oneOf, not, if or $ref at the top level; use $defs and $ref'
  return path ? [{ path, message }] : []
}

function findKeyword(value: Json, path: string[]): string[] | null {
  const entries = Array.isArray(value)
    ? value.map((item, index): [string, Json] => [String(index), item])
    : isJsonObject(value)
      ? Object.entries(value)
      : []
  for (const [name, child] of entries) {
    const here = [...path, name]
    if (isJsonObject(value) && FIXED_KEYWORDS.includes(name) && typeof child === 'string') return here
    const found = findKeyword(child, here)
    if (found) return found
  }
  return null
}
