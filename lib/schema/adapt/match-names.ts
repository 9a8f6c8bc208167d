import type { JsonObject } from '../../core/json.ts'
import { isSimilar, normalizeName, type ParsedName, parseName } from '../similar-names.ts'
import { canFit } from './convert-value.ts'
import type { FieldShape, Shape } from './shape.ts'

/** Above this number of unknown names, typos are not corrected: it would be slow, and they are unlikely to be typos. */
const MAX_TYPOS = 200

/** Similar names differ in length by at most the two letters of a plural or typo. */
const MAX_LENGTH_DIFFERENCE = 2

type FieldName = ParsedName & { field: FieldShape }

/** The fields of a shape, by normalized name and by the properties that similar names share. */
type FieldIndex = { byName: Map<string, FieldName[]>; byStart: Map<string, FieldName[]> }

/** Built lazily: only inputs with unknown names need them. */
const fieldIndexes = new WeakMap<Shape, FieldIndex>()

/** The fields that the unknown names of one input resemble: in a list of objects, the same names occur again and again. */
export class NameIndex {
  readonly findEqual = memoize(findEqualNames)
  readonly findSimilar = memoize(findSimilarNames)
}

/** Names that do not repeat fill the map without being found in it. */
const MAX_MEMOIZED = 1_000

type FindFields = (shape: Shape, name: string) => FieldShape[]

function memoize(find: FindFields): FindFields {
  const known = new Map<Shape, Map<string, FieldShape[]>>()
  return (shape, name) => {
    const ofShape = known.get(shape) ?? new Map<string, FieldShape[]>()
    known.set(shape, ofShape)
    const fields = ofShape.get(name) ?? find(shape, name)
    if (ofShape.size < MAX_MEMOIZED) ofShape.set(name, fields)
    return fields
  }
}

/**
 * Maps unknown names of an input to the declared fields that they mean: first names that are equal except for case and
 * separators, then similar names (see `isSimilar`) whose value fits the field. Ambiguous names are not matched, nor are
 * fields that the input already has. If the object allows other fields, only its required fields are matched, and only
 * by equal names.
 */
export function matchNames(
  shape: Shape,
  sent: JsonObject,
  unknown: readonly string[],
  index: NameIndex,
): Map<string, string> {
  const matched = new Map<string, string>()
  const isCandidate = ({ name, isRequired }: FieldShape) =>
    !Object.hasOwn(sent, name) && (shape.isClosed || isRequired)

  for (const [name, field] of uniquePairs(unknown, (name) => index.findEqual(shape, name)))
    if (isCandidate(field)) matched.set(name, field.name)
  const others = unknown.filter((name) => !matched.has(name))
  if (!shape.isClosed || others.length > MAX_TYPOS) return matched
  const taken = new Set(matched.values())
  for (const [name, field] of uniquePairs(others, (name) => index.findSimilar(shape, name)))
    if (isCandidate(field) && !taken.has(field.name) && canFit(field.shape, sent[name] ?? null))
      matched.set(name, field.name)
  return matched
}

/** The fields whose name equals a given one except for case and separators. */
export function findEqualNames(shape: Shape, name: string): FieldShape[] {
  const normalized = normalizeName(name)
  if (normalized === '') return []
  return (fieldIndexOf(shape).byName.get(normalized) ?? []).map(({ field }) => field)
}

function findSimilarNames(shape: Shape, name: string): FieldShape[] {
  const normalized = normalizeName(name)
  if (normalized === '') return []
  const { byName, byStart } = fieldIndexOf(shape)
  const candidates = [...(byName.get(normalized) ?? [])]
  for (let change = -MAX_LENGTH_DIFFERENCE; change <= MAX_LENGTH_DIFFERENCE; change += 1)
    candidates.push(...(byStart.get(startOf(normalized, change)) ?? []))
  if (candidates.length === 0) return []
  const parsed = parseName(name)
  const similar = candidates.filter((candidate) => isSimilar(parsed, candidate))
  return [...new Set(similar.map(({ field }) => field))]
}

/** The first letter and the length of a normalized name: similar names share the letter. */
const startOf = (normalized: string, change = 0) => `${normalized[0]}${normalized.length + change}`

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

function fieldIndexOf(shape: Shape): FieldIndex {
  const cached = fieldIndexes.get(shape)
  if (cached) return cached
  const index: FieldIndex = { byName: new Map(), byStart: new Map() }
  for (const field of shape.fields.values()) {
    const name = { ...parseName(field.name), field }
    append(index.byName, name.normalized, name)
    if (name.normalized !== '') append(index.byStart, startOf(name.normalized), name)
  }
  fieldIndexes.set(shape, index)
  return index
}

function append<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}
