import { createHash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import { isRawJson } from './exact-number.ts'
import { isJsonObject } from './json.ts'

/**
 * SHA-256 (hexadecimal) of a JSON value, independent of the order of object keys. A value without a canonical form is
 * hashed as `JSON.stringify` writes it with sorted keys, so that a repeated request still has the same hash.
 */
export function hashJson(value: unknown): string {
  return sha256(canonicalJson(value) ?? JSON.stringify(value, withSortedKeys))
}

function withSortedKeys(_: string, value: unknown): unknown {
  if (!isJsonObject(value) || isRawJson(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
