import { isNumber } from '../../core/json/exact-number.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts'

/** Members of a frame. Servers send them with other JSON types than the packages of the providers expect. */
export const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {})

/** The objects of a list, or of one object in its place. */
export const objectsOf = (value: unknown): JsonObject[] =>
  (Array.isArray(value) ? value : [value]).filter(isJsonObject)

export const textOf = (value: unknown): string =>
  typeof value === 'string' || isNumber(value) ? String(value) : ''

/** A text of JSON, which servers also send as a value. */
export const jsonTextOf = (value: Json | undefined): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : textOf(value)

/** A count or an index. */
export const countOf = (value: unknown): number | undefined =>
  /^\d{1,15}(\.0*)?$/.test(textOf(value)) ? Number(value) : undefined

/** Counts of which 0 says that the server did not count. */
const TOTALS = /^(prompt|completion|input|output)_?tokens$/i
/** Members with further counts. */
const DETAILS = /_details$|^cache_creation$/

/** The counts of a usage that can be true replace the known ones. */
export function mergeUsage(known: JsonObject, usage: unknown): JsonObject {
  const merged = { ...known }
  for (const [name, value] of Object.entries(objectOf(usage))) {
    const count = countOf(value)
    if (DETAILS.test(name)) merged[name] = mergeUsage(objectOf(merged[name]), value)
    else if (count || (count === 0 && !TOTALS.test(name))) merged[name] = count
  }
  return merged
}
