import { canonicalJson } from './canonical-json.ts'
import { sha256 } from './hash-json.ts'
import type { JsonObject } from './json.ts'

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
