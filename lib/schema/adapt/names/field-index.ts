import { type ParsedName, parseName } from '../../similar-names.ts'
import type { FieldShape, Shape } from '../shape.ts'
import { toCanonicalName, withoutBooleanPrefix } from './word-tables.ts'

export type FieldName = ParsedName & { field: FieldShape }

/** The fields of a shape by their normalized name, by their canonical name, and by what similar names share. */
export type FieldIndex = {
  byName: Map<string, FieldName[]>
  byCanonical: Map<string, FieldShape[]>
  byStart: Map<string, FieldName[]>
  /** Whether a field is an object or a list, of which parts can be sent. */
  hasParts: boolean
}

/** Built lazily: only inputs with unknown names need them. */
const indexes = new WeakMap<Shape, FieldIndex>()

export function fieldIndexOf(shape: Shape): FieldIndex {
  const known = indexes.get(shape)
  if (known) return known
  const index: FieldIndex = {
    byName: new Map(),
    byCanonical: new Map(),
    byStart: new Map(),
    hasParts: [...shape.fields.values()].some(
      ({ shape: { fields, types } }) => fields.size > 0 || types?.has('array'),
    ),
  }
  for (const field of shape.fields.values()) {
    const name = { ...parseName(field.name), field }
    if (name.normalized === '') continue
    append(index.byName, name.normalized, name)
    append(index.byStart, startOf(name.normalized), name)
    for (const key of canonicalKeys(name.words, isBoolean(field))) append(index.byCanonical, key, field)
  }
  indexes.set(shape, index)
  return index
}

/**
 * The keys under which a name is found. Names that differ only in `is` share the key `? paid`, which only booleans have.
 */
export function canonicalKeys(words: readonly string[], mayBeBoolean: boolean): string[] {
  const canonical = toCanonicalName(words)
  const withoutPrefix = withoutBooleanPrefix(canonical)
  return mayBeBoolean ? [canonical, `? ${withoutPrefix ?? canonical}`] : [canonical]
}

const isBoolean = ({ shape }: FieldShape) => shape.types?.size === 1 && shape.types.has('boolean')

/** The first letter and the length of a normalized name: similar names share the letter. */
export const startOf = (normalized: string, change = 0) => `${normalized[0]}${normalized.length + change}`

function append<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}
