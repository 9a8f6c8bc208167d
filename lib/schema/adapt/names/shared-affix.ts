import type { JsonObject } from '../../../core/json.ts'
import type { FieldShape, Shape } from '../shape.ts'
import { findByWords } from './find-field.ts'
import { canBeRenamed, type NameIndex, type Renames } from './match-names.ts'

/** Objects with more names stay as sent: each possible prefix or suffix is compared with all of them. */
const MAX_NAMES = 100

/**
 * The renames of an object whose names all have the same first words, or the same last words, that its fields lack:
 * `order_id` and `order_total` for `id` and `total`. All required fields must be among them. Two names suffice, because
 * their common words are then a prefix; one name alone would have several.
 */
export function matchWithoutAffix(shape: Shape, sent: JsonObject, index: NameIndex): Renames | undefined {
  const names = Object.keys(sent)
  if (!shape.isClosed || names.length < 2 || names.length > MAX_NAMES) return undefined
  const words = names.map((name) => index.wordsOf(shape, name))
  const found = [
    ...cuts(words, (list, count) => list.slice(0, count)).map((count) =>
      matchWords(
        shape,
        sent,
        words.map((list) => list.slice(count)),
      ),
    ),
    ...cuts(words, (list, count) => list.slice(-count)).map((count) =>
      matchWords(
        shape,
        sent,
        words.map((list) => list.slice(0, -count)),
      ),
    ),
  ].filter((renames) => renames !== undefined)
  return found.length === 1 ? found[0] : undefined
}

/** How many words at one end all lists share, at least one: 1, 2, … Each list keeps a word. */
function cuts(
  words: (readonly string[])[],
  cut: (list: readonly string[], count: number) => string[],
): number[] {
  const [first = []] = words
  const counts: number[] = []
  for (let count = 1; words.every((list) => list.length > count); count += 1) {
    const shared = cut(first, count).join(' ')
    if (!words.every((list) => cut(list, count).join(' ') === shared)) break
    counts.push(count)
  }
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
  const isComplete = [...shape.fields.values()].every((field) => !field.isRequired || matched.has(field))
  return matched.size >= 2 && isComplete ? renames : undefined
}
