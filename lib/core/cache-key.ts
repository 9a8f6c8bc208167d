import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { JsonObject } from './json.ts'

/** All that makes one run's result that of another. */
export type CacheIdentity = {
  agentId: string
  versionId: string
  tenantId: string | null
  /** The effective input, as the agent gets it. */
  input: JsonObject
  /** The override of the call, not the version's own model. */
  model: string | null
  useDynamicLearning: boolean
}

/** Raised when what a key covers or how it is written changes: then no entry of before is found. */
const KEY_FORMAT = 1

/**
 * The cache key: SHA-256, in hexadecimal, of canonical JSON (RFC 8785). Null for an input that has no canonical form,
 * because a text in it is no Unicode (a surrogate without its other half): such a run is not cached.
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
  return canonical === null ? null : createHash('sha256').update(canonical).digest('hex')
}

/** Canonical JSON (RFC 8785), or null for a value that has none. */
export function canonicalJson(value: unknown): string | null {
  try {
    return canonicalize(value) ?? null
  } catch {
    return null
  }
}
