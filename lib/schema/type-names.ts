import type { Json } from '../core/json.ts'

export type JsonType = 'string' | 'number' | 'boolean' | 'object' | 'array' | 'null'

const NAMES = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
}

export function typeOf(value: Json): JsonType {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : (typeof value as Exclude<JsonType, 'array' | 'null'>)
}

/** What people call a type of JSON Schema. */
export function typeName(type: string): string {
  return Object.hasOwn(NAMES, type) ? NAMES[type as keyof typeof NAMES] : type
}

export function oneOfThese(names: readonly string[]): string {
  const [last, ...others] = [...new Set(names)].reverse()
  return others.length === 0 ? (last ?? 'nothing') : `${others.reverse().join(', ')} or ${last}`
}
