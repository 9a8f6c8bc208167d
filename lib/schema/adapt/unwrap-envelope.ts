import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { normalizeName } from '../similar-names.ts'
import { findEqualNames } from './match-names.ts'
import type { Shape } from './shape.ts'

const ENVELOPES = new Set(['input', 'data', 'body', 'payload', 'params', 'arguments'])

export type Unwrapped = { names: string[]; fields: JsonObject }

/**
 * Returns the fields inside an object whose only field is an envelope, possibly nested. Undefined unless the shape
 * declares one of the fields inside. If the shape allows other fields, the field inside must be required; if it has a
 * schema for other fields, an envelope counts as such a field.
 */
export function unwrapEnvelope(shape: Shape, sent: JsonObject): Unwrapped | undefined {
  if (shape.others || Object.keys(sent).some((name) => findEqualNames(shape, name).length > 0))
    return undefined
  const names: string[] = []
  for (let fields = sent; ; ) {
    const [name, second] = Object.keys(fields)
    if (name === undefined || second !== undefined || !ENVELOPES.has(normalizeName(name))) return undefined
    const inner = fields[name]
    if (!isJsonObject(inner)) return undefined
    names.push(name)
    fields = inner
    if (hasDeclaredField(shape, fields)) return { names, fields }
  }
}

function hasDeclaredField(shape: Shape, fields: JsonObject): boolean {
  const names = Object.keys(fields)
  if (names.length === 0) return shape.isClosed && shape.fields.size > 0
  return names.some((name) =>
    findEqualNames(shape, name).some(({ isRequired }) => shape.isClosed || isRequired),
  )
}
