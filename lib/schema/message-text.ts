import { ExactNumber } from '../core/exact-number.ts'
import type { Json } from '../core/json.ts'

export type JsonType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'null'

const TYPES_WITH_ARTICLE = new Map([
  ['string', 'a string'],
  ['number', 'a number'],
  ['integer', 'an integer'],
  ['boolean', 'a boolean'],
  ['object', 'an object'],
  ['array', 'an array'],
])

export function jsonTypeOf(value: Json | ExactNumber): JsonType {
  if (value === null) return 'null'
  if (value instanceof ExactNumber) return 'number'
  return Array.isArray(value) ? 'array' : (typeof value as Exclude<JsonType, 'array' | 'null'>)
}

/** A JSON Schema type with its article, for use in a sentence. */
export const withArticle = (type: string): string => TYPES_WITH_ARTICLE.get(type) ?? type

/** `a, b or c`, without duplicates. */
export function joinWithOr(items: readonly string[]): string {
  return new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(new Set(items))
}

/** Shortens a text for display. Never splits a surrogate pair. */
export function truncate(text: string, maxCharacters: number): string {
  return text.length > maxCharacters
    ? `${text.slice(0, maxCharacters).replace(/[\uD800-\uDBFF]$/, '')}…`
    : text
}
