import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { looseName } from '../spelling.ts'
import { alike } from './match-names.ts'
import type { Shape } from './shape.ts'

const ENVELOPES = new Set(['input', 'data', 'body', 'payload', 'params', 'arguments'])

export type Unwrapped = { names: string[]; fields: JsonObject }

/**
 * The fields inside an object whose only field is an envelope, or envelopes in each other, that the shape does not
 * know; undefined when none of those inside is known either. Where an object takes other fields, one that it requires
 * must be inside; where it has a schema for them, an envelope is such a field.
 */
export function unwrap(shape: Shape, sent: JsonObject): Unwrapped | undefined {
  if (shape.others || Object.keys(sent).some((name) => alike(shape, name).length > 0)) return undefined
  const names: string[] = []
  for (let fields = sent; ; ) {
    const [name, another] = Object.keys(fields)
    if (name === undefined || another !== undefined || !ENVELOPES.has(looseName(name))) return undefined
    const inside = fields[name]
    if (!isJsonObject(inside)) return undefined
    names.push(name)
    fields = inside
    if (isMeant(shape, fields)) return { names, fields }
  }
}

function isMeant(shape: Shape, fields: JsonObject): boolean {
  const names = Object.keys(fields)
  if (names.length === 0) return shape.isClosed && shape.fields.size > 0
  return names.some((name) => alike(shape, name).some(({ isRequired }) => shape.isClosed || isRequired))
}
