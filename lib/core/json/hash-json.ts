import { createHash } from 'node:crypto'
import type { Execution } from '../execution.ts'
import type { RunOptions } from '../run-options.ts'
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

/**
 * Everything that two runs must have in common to share a result. `input`: adapted, as the agent receives it; `model`:
 * the override of the call, not the version's own model.
 */
export type CacheIdentity = Pick<Execution, 'agentId' | 'versionId' | 'tenantId' | 'input'> &
  Pick<RunOptions, 'model' | 'useDynamicLearning'>

/** Increment when the key's contents or format change: existing entries are then no longer found. */
const KEY_FORMAT = 1

/**
 * The cache key: SHA-256 (hexadecimal) of canonical JSON (RFC 8785). Null for an input that has no canonical form
 * because it contains a lone surrogate; such a run is not cached.
 */
export function cacheKeyOf(identity: CacheIdentity): string | null {
  const { agentId, versionId, tenantId, input, model, useDynamicLearning } = identity
  const run = { agentId, versionId, tenantId, input, model, useDynamicLearning }
  const canonical = canonicalJson({ format: KEY_FORMAT, ...run })
  return canonical === null ? null : sha256(canonical)
}
