import { normalizeName, type ParsedName, parseName } from '../../similar-names.ts'
import type { FieldShape, Shape } from '../shape.ts'
import { canonicalKeys, fieldIndexOf } from './field-index.ts'

/** The fields whose name equals a given one except for case and separators. */
export function findEqualNames(shape: Shape, name: string): FieldShape[] {
  const normalized = normalizeName(name)
  if (normalized === '') return []
  return (fieldIndexOf(shape).byName.get(normalized) ?? []).map(({ field }) => field)
}

/** The fields whose name means the same as a given one by the tables of words. */
export function findSameMeaning(shape: Shape, { normalized, words }: ParsedName): FieldShape[] {
  return normalized === '' ? [] : findCanonical(shape, words)
}

/** The fields that some words mean: except for case and separators, or else by the tables of words. */
export function findByWords(shape: Shape, words: readonly string[]): FieldShape[] {
  const equal = findEqualNames(shape, words.join('_'))
  return equal.length > 0 ? equal : findCanonical(shape, words)
}

function findCanonical(shape: Shape, words: readonly string[]): FieldShape[] {
  const { byCanonical } = fieldIndexOf(shape)
  const found = canonicalKeys(words, true).flatMap((key) => byCanonical.get(key) ?? [])
  return [...new Set(found)]
}

/** The only field that a name means: by its exact name, except for case and separators, or by the tables of words. */
export function findField(shape: Shape, name: string): FieldShape | undefined {
  const exact = shape.fields.get(name)
  if (exact) return exact
  const equal = findEqualNames(shape, name)
  const found = equal.length > 0 ? equal : findSameMeaning(shape, parseName(name))
  return found.length === 1 ? found[0] : undefined
}
