import type { JsonObject } from '../../core/json.ts'
import { isSimilar, normalizeName, type ParsedName, parseName } from '../similar-names.ts'
import { canFit } from './convert-value.ts'
import type { FieldShape, Shape } from './shape.ts'

/** Above this number of unknown names, typos are not corrected: it would be slow, and they are unlikely to be typos. */
const MAX_TYPOS = 200

type FieldName = ParsedName & { field: FieldShape }

/** Fields by normalized name. Built lazily: only inputs with unknown names need it. */
const indexes = new WeakMap<Shape, Map<string, FieldName[]>>()

/**
 * Maps unknown names of an input to the declared fields that they mean: first names that are equal except for case and
 * separators, then similar names (see `isSimilar`) whose value fits the field. Ambiguous names are not matched, nor are
 * fields that the input already has. If the object allows other fields, only its required fields are matched, and only
 * by equal names.
 */
export function matchNames(shape: Shape, sent: JsonObject, unknown: readonly string[]): Map<string, string> {
  const matched = new Map<string, string>()
  const isCandidate = ({ name, isRequired }: FieldShape) =>
    !Object.hasOwn(sent, name) && (shape.isClosed || isRequired)

  for (const [name, field] of uniquePairs(unknown, (name) => findEqualNames(shape, name)))
    if (isCandidate(field)) matched.set(name, field.name)
  const others = unknown.filter((name) => !matched.has(name))
  if (!shape.isClosed || others.length > MAX_TYPOS) return matched
  const taken = new Set(matched.values())
  for (const [name, field] of uniquePairs(others, (name) => findSimilarNames(shape, name)))
    if (isCandidate(field) && !taken.has(field.name) && canFit(field.shape, sent[name] ?? null))
      matched.set(name, field.name)
  return matched
}

/** The fields whose name equals a given one except for case and separators. */
export function findEqualNames(shape: Shape, name: string): FieldShape[] {
  const normalized = normalizeName(name)
  if (normalized === '') return []
  return (indexOf(shape).get(normalized) ?? []).map(({ field }) => field)
}

function findSimilarNames(shape: Shape, name: string): FieldShape[] {
  if (normalizeName(name) === '') return []
  const parsed = parseName(name)
  const known = [...indexOf(shape).values()].flat()
  return known.filter((candidate) => isSimilar(parsed, candidate)).map(({ field }) => field)
}

/** The pairs of a name and a field in which neither has another match. */
function uniquePairs(
  names: readonly string[],
  findCandidates: (name: string) => FieldShape[],
): [string, FieldShape][] {
  const counts = new Map<FieldShape, number>()
  const pairs: [string, FieldShape][] = []
  for (const name of names) {
    const candidates = findCandidates(name)
    for (const candidate of candidates) counts.set(candidate, (counts.get(candidate) ?? 0) + 1)
    if (candidates.length === 1 && candidates[0]) pairs.push([name, candidates[0]])
  }
  return pairs.filter(([, candidate]) => counts.get(candidate) === 1)
}

function indexOf(shape: Shape): Map<string, FieldName[]> {
  const cached = indexes.get(shape)
  if (cached) return cached
  const index = new Map<string, FieldName[]>()
  for (const field of shape.fields.values()) {
    const name = { ...parseName(field.name), field }
    index.set(name.normalized, [...(index.get(name.normalized) ?? []), name])
  }
  indexes.set(shape, index)
  return index
}
