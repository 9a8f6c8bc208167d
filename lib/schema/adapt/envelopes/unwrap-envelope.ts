import type { Json, JsonObject } from '../../../core/json.ts'
import { findEqualNames } from '../names/find-field.ts'
import type { NameIndex } from '../names/match-names.ts'
import type { Shape } from '../shape.ts'
import { findSupplier } from './find-supplier.ts'
import { isEnvelope, type Opened, openValue } from './open-value.ts'
import { findToolArguments } from './tool-call.ts'

/**
 * Returns the fields inside an envelope: an object whose only field has the name of an envelope, possibly nested, or a
 * tool call; around a whole input also an object with other fields (`findSupplier`). Undefined unless the shape declares
 * one of the fields inside and none outside. If the shape allows other fields, the field inside must be required; if it
 * has a schema for other fields, an envelope counts as such a field.
 */
export function unwrapEnvelope(
  shape: Shape,
  sent: JsonObject,
  isRoot: boolean,
  index: NameIndex,
): Opened | undefined {
  if (shape.others) return undefined
  if (isRoot && shape.isClosed) {
    const call = openToolCall(shape, sent)
    if (call) return call
  }
  if (Object.keys(sent).some((name) => index.findEqual(shape, name).length > 0)) return undefined
  return openSoleEnvelope(shape, sent) ?? (isRoot ? findSupplier(shape, sent) : undefined)
}

function openSoleEnvelope(shape: Shape, sent: JsonObject): Opened | undefined {
  const path: string[] = []
  for (let fields = sent; ; ) {
    const [name, second] = Object.keys(fields)
    if (name === undefined || second !== undefined || !isEnvelope(name)) return undefined
    const inner = openValue(fields[name] ?? null)
    if (!inner) return undefined
    path.push(name, ...inner.path)
    fields = inner.fields
    if (hasDeclaredField(shape, fields)) return { path, fields }
  }
}

/**
 * The fields around the arguments of a tool call describe the call, even if the shape declares one with such a name; but
 * a call that consists of a name and arguments may also be an object that has a name.
 */
function openToolCall(shape: Shape, sent: JsonObject): Opened | undefined {
  const path = findToolArguments(sent)
  if (!path || shape.fields.has(path[0] ?? '')) return undefined
  if (sent.type === undefined && Object.hasOwn(sent, 'name') && shape.fields.has('name')) return undefined
  const value = path.reduce<Json>((inner, name) => (inner as JsonObject)[name] ?? null, sent)
  const opened = openValue(value)
  if (!opened || !hasDeclaredField(shape, opened.fields)) return undefined
  return { path: [...path, ...opened.path], fields: opened.fields }
}

/** Whether the shape declares one of the names, except for case and separators. */
export function hasDeclaredField(shape: Shape, fields: JsonObject): boolean {
  const names = Object.keys(fields)
  if (names.length === 0) return shape.isClosed && shape.fields.size > 0
  return names.some((name) =>
    findEqualNames(shape, name).some(({ isRequired }) => shape.isClosed || isRequired),
  )
}
