import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { getNonNullAlternative, getPureRefTarget, type Lookup } from './subschemas.ts'

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
