import type { Violation } from '../core/errors.ts'
import { ExactNumber } from '../core/json/exact-number.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json/json.ts'
import { escapeName } from '../core/json/pointer.ts'
import { InvalidJson } from '../core/request-errors.ts'

export function jsonTypeOf(value: Json | ExactNumber): string {
  if (value === null) return 'null'
  if (value instanceof ExactNumber) return 'number'
  return Array.isArray(value) ? 'array' : typeof value
}

/** A JSON Schema type with its article, for use in a sentence. */
export function withArticle(type: string): string {
  if (/^(?:integer|object|array)$/.test(type)) return `an ${type}`
  return /^(?:string|number|boolean)$/.test(type) ? `a ${type}` : type
}

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

const MAX_POINTER_CHARACTERS = 256

/** Builds a JSON Pointer (RFC 6901), truncated because clients choose the names and error responses must stay small. */
export function toJsonPointer(names: readonly string[]): string {
  return truncate(names.map((name) => `/${escapeName(name)}`).join(''), MAX_POINTER_CHARACTERS)
}

/** `message` is a predicate. */
export function toViolation(names: readonly string[], message: string): Violation {
  const path = toJsonPointer(names)
  return { path, message: `${path === '' ? 'The value' : truncate(path, 100)} ${message}` }
}

/** A request body that must be a JSON object. @throws InvalidJson */
export function assertObject(body: Json): JsonObject {
  if (isJsonObject(body)) return body
  throw new InvalidJson(`The body is ${withArticle(jsonTypeOf(body))}. Send a JSON object.`)
}
