import { truncate } from './message-text.ts'

const MAX_CHARACTERS = 256

/** Builds a JSON Pointer (RFC 6901), truncated because clients choose the names and error responses must stay small. */
export function toJsonPointer(names: readonly string[]): string {
  return truncate(names.map((name) => `/${escapeName(name)}`).join(''), MAX_CHARACTERS)
}

/** Splits a JSON Pointer into unescaped names. */
export function parseJsonPointer(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapeName)
}

/** A name as it is written in a JSON Pointer. */
export const escapeName = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
const unescapeName = (name: string) => name.replaceAll('~1', '/').replaceAll('~0', '~')
