import { createHash } from 'node:crypto'
import { isJsonObject } from '../../core/json.ts'

/** A hash of a JSON value that does not depend on the order of its objects' fields, nor on how it was written. */
export function fingerprintOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value, sorted)).digest('hex')
}

const sorted = (_: string, value: unknown) =>
  isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort(byName)) : value

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)
