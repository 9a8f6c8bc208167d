import type { JsonObject } from '../../../core/json/json.ts'
import { type FieldShape, hasRequired, type Shape } from '../shape.ts'
import { findByWords } from './find-field.ts'
import { canBeRenamed, matchNames, matchSimilarNames, type Renames } from './match-names.ts'
import type { NameIndex } from './name-index.ts'
import { assemblePaths, type NamedField } from './paths.ts'

type Names = { renames: Renames; assembled: NamedField[] }

const SAME_NAMES: Names = { renames: new Map(), assembled: [] }

/** Gives the fields of an input their declared names, where each unknown name is unambiguous. */
export function nameFields(
  shape: Shape,
  sent: JsonObject,
  sentNames: readonly string[],
  unknown: readonly string[],
  index: NameIndex,
): NamedField[] {
  const { renames, assembled } = unknown.length > 0 ? findNames(shape, sent, unknown, index) : SAME_NAMES
  const byPart = new Map(assembled.flatMap((field) => partNames(field).map((name) => [name, field])))
  const fields: NamedField[] = []
  for (const sentName of sentNames) {
    const field = byPart.get(sentName)
    if (!field)
      fields.push({ name: renames.get(sentName) ?? sentName, value: sent[sentName] ?? null, sentName })
    else if (field.sentName === sentName) fields.push(field)
  }
  return fields
}

const partNames = ({ parts = [] }: NamedField) => parts.map(({ sentName }) => sentName)

/** The most certain matches come first: each leaves fewer names and fields to the next. */
function findNames(shape: Shape, sent: JsonObject, unknown: readonly string[], index: NameIndex): Names {
  const renames = matchNames({ shape, sent, unknown, index })
  const isTaken = (field: string) => Object.hasOwn(sent, field) || [...renames.values()].includes(field)
  const rest = renames.size === 0 ? unknown : unknown.filter((name) => !renames.has(name))
  const assembled = assemblePaths(shape, sent, rest, index.findPaths).filter(({ name }) => !isTaken(name))
  const isUnmatched =
    renames.size === 0 && assembled.length === 0 && unknown.length === Object.keys(sent).length
  const withoutAffix = isUnmatched ? matchWithoutAffix(shape, sent, index) : undefined
  if (withoutAffix) return { renames: withoutAffix, assembled }
  const parts = new Set(assembled.flatMap(partNames))
  const taken = new Set(assembled.map(({ name }) => name))
  const others = parts.size === 0 ? unknown : unknown.filter((name) => !parts.has(name))
  matchSimilarNames({ shape, sent, unknown: others, index, taken }, renames)
  return { renames, assembled }
}

/** Objects with more names stay as sent: each possible prefix or suffix is compared with all of them. */
const MAX_NAMES = 100

/**
 * The renames of an object whose names all have the same first words, or the same last words, that its fields lack:
 * `order_id` and `order_total` for `id` and `total`. All required fields must be among them. Two names suffice, because
 * their common words are then a prefix; one name alone would have several.
 */
function matchWithoutAffix(shape: Shape, sent: JsonObject, index: NameIndex): Renames | undefined {
  const names = Object.keys(sent)
  if (!shape.isClosed || names.length < 2 || names.length > MAX_NAMES) return undefined
  const words = names.map((name) => index.wordsOf(shape, name))
  const fromEnd = words.map((list) => list.toReversed())
  const found = [
    ...sharedCounts(words).map((count) => words.map((list) => list.slice(count))),
    ...sharedCounts(fromEnd).map((count) => words.map((list) => list.slice(0, -count))),
  ].flatMap((rest) => matchWords(shape, sent, rest) ?? [])
  return found.length === 1 ? found[0] : undefined
}

/** How many first words all lists share, at least one: 1, 2, … Each list keeps a word. */
function sharedCounts(words: (readonly string[])[]): number[] {
  const [first = []] = words
  const counts: number[] = []
  const isShared = (count: number) =>
    words.every((list) => list.length > count && list[count - 1] === first[count - 1])
  for (let count = 1; isShared(count); count += 1) counts.push(count)
  return counts
}

function matchWords(shape: Shape, sent: JsonObject, words: (readonly string[])[]): Renames | undefined {
  const renames: Renames = new Map()
  const matched = new Set<FieldShape>()
  for (const [index, name] of Object.keys(sent).entries()) {
    const [field, second] = findByWords(shape, words[index] ?? [])
    if (!field || second || matched.has(field)) continue
    if (!canBeRenamed(field, sent[name] ?? null)) return undefined
    matched.add(field)
    renames.set(name, field.name)
  }
  return matched.size >= 2 && hasRequired(shape, matched) ? renames : undefined
}
