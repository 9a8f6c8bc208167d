import canonicalize from 'canonicalize'
import { containsExactNumber, type Json } from './json.ts'

/** Canonical JSON (RFC 8785); null for a value that has none, such as text with a lone surrogate or an exact number. */
export function canonicalJson(value: unknown): string | null {
  if (containsExactNumber(value as Json)) return null
  try {
    return canonicalize(value) ?? null
  } catch {
    return null
  }
}
