import type { JsonObject } from '../../core/json.ts'
import { isNear, looseName, type Name, nameOf } from '../spelling.ts'
import { canFit } from './convert-value.ts'
import type { FieldShape, Shape } from './shape.ts'

/** An object with more unknown names than this is no misspelt one, and to compare them all would take long. */
const MAX_MISSPELT = 200

type FieldName = Name & { field: FieldShape }

/** The names of a shape's fields, by what `looseName` makes of them: only inputs with unknown names need these. */
const indexes = new WeakMap<Shape, Map<string, FieldName[]>>()

/**
 * The fields that names mean which the shape does not know: those alike but for case and separators, then those near
 * (see `isNear`) whose value the field can take. A field that was sent is no candidate, nor is one that two names
 * could mean, or a name that could mean two fields. Where an object takes other fields, only one that it requires is,
 * and only by a name that is alike.
 */
export function matchNames(shape: Shape, sent: JsonObject, unknown: readonly string[]): Map<string, string> {
  const matched = new Map<string, string>()
  const isFree = ({ name, isRequired }: FieldShape) =>
    !Object.hasOwn(sent, name) && (shape.isClosed || isRequired)

  for (const [name, field] of pairs(unknown, (name) => alike(shape, name)))
    if (isFree(field)) matched.set(name, field.name)
  const others = unknown.filter((name) => !matched.has(name))
  if (!shape.isClosed || others.length > MAX_MISSPELT) return matched
  const taken = new Set(matched.values())
  for (const [name, field] of pairs(others, (name) => near(shape, name)))
    if (isFree(field) && !taken.has(field.name) && canFit(field.shape, sent[name] ?? null))
      matched.set(name, field.name)
  return matched
}

/** The fields that have a name but for case and separators. */
export function alike(shape: Shape, name: string): FieldShape[] {
  const loose = looseName(name)
  if (loose === '') return []
  return (indexOf(shape).get(loose) ?? []).map(({ field }) => field)
}

function near(shape: Shape, name: string): FieldShape[] {
  if (looseName(name) === '') return []
  const wanted = nameOf(name)
  const known = [...indexOf(shape).values()].flat()
  return known.filter((candidate) => isNear(wanted, candidate)).map(({ field }) => field)
}

/** The names and candidates of which neither has another. */
function pairs(
  names: readonly string[],
  candidatesOf: (name: string) => FieldShape[],
): [string, FieldShape][] {
  const counts = new Map<FieldShape, number>()
  const found: [string, FieldShape][] = []
  for (const name of names) {
    const candidates = candidatesOf(name)
    for (const candidate of candidates) counts.set(candidate, (counts.get(candidate) ?? 0) + 1)
    if (candidates.length === 1 && candidates[0]) found.push([name, candidates[0]])
  }
  return found.filter(([, candidate]) => counts.get(candidate) === 1)
}

function indexOf(shape: Shape): Map<string, FieldName[]> {
  const known = indexes.get(shape)
  if (known) return known
  const index = new Map<string, FieldName[]>()
  for (const field of shape.fields.values()) {
    const name = { ...nameOf(field.name), field }
    index.set(name.loose, [...(index.get(name.loose) ?? []), name])
  }
  indexes.set(shape, index)
  return index
}
