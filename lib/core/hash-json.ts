import { createHash } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import { isRawJson } from './exact-number.ts'
import { isJsonObject, type JsonObject } from './json.ts'

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

/** Everything that two runs must have in common to share a result. */
export type CacheIdentity = {
  agentId: string
  versionId: string
  tenantId: string | null
  /** The adapted input, as the agent receives it. */
  input: JsonObject
  /** The model override of the call, not the version's own model. */
  model: string | null
  useDynamicLearning: boolean
}

/** Increment when the key's contents or format change: existing entries are then no longer found. */
const KEY_FORMAT = 1

/**
 * The cache key: SHA-256 (hexadecimal) of canonical JSON (RFC 8785). Null for an input that has no canonical form
 * because it contains a lone surrogate; such a run is not cached.
 */
export function cacheKeyOf(identity: CacheIdentity): string | null {
  const { agentId, versionId, tenantId, input, model, useDynamicLearning } = identity
  const canonical = canonicalJson({
    format: KEY_FORMAT,
    agentId,
    versionId,
    tenantId,
    input,
    model,
    useDynamicLearning,
  })
  return canonical === null ? null : sha256(canonical)
}
