import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

/** Canonical JSON (RFC 8785); null for a value that has none, such as text with a lone surrogate. */
export function canonicalJson(value: unknown): string | null {
  try {
    return canonicalize(value) ?? null
  } catch {
    return null
  }
}

/**
 * SHA-256 (hexadecimal) of a JSON value, independent of the order of object keys. A value without a canonical form is
 * hashed as `JSON.stringify` writes it, so that a repeated request still has the same hash.
 */
export function hashJson(value: unknown): string {
  return sha256(canonicalJson(value) ?? JSON.stringify(value))
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
