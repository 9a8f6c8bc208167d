import MiniSearch from 'minisearch'
import type { Json, JsonObject } from '../../core/json/json.ts'

/** Characters of an input that are compared: per value, so that a long one does not hide the others, and in total. */
const VALUE_CHARACTERS = 500
const TEXT_CHARACTERS = 1_500

/** `score` ranks matches, higher is closer; `share` is the fraction of the input's words found, from 0 to 1. */
export type Match = { score: number; share: number }

/** Similarity to `input` of each entry of `others` that shares a word with it, by index. */
export function similaritiesTo(input: JsonObject, others: JsonObject[]): Map<number, Match> {
  // Intl.Segmenter finds words in languages without spaces, too. Longer words match with one different letter.
  const index = new MiniSearch<{ id: number; text: string }>({
    fields: ['text'],
    tokenize: wordsIn,
    processTerm: (word) => word,
    searchOptions: { fuzzy: (word) => word.length > 4 && 1, boostTerm: weightOf },
  })
  index.addAll(others.map((other, id) => ({ id, text: textOf(other) })))
  const text = textOf(input)
  const found = index.search(text)

  const inOthers = new Map<string, number>()
  for (const word of found.flatMap(({ queryTerms }) => [...new Set(queryTerms)]))
    inOthers.set(word, (inOthers.get(word) ?? 0) + 1)
  const names = new Set(wordsIn(cut(namesIn(input))))
  /** Words that all entries share say little: field names nothing, other words less the more entries there are. */
  const worthOf = (word: string) => {
    const commonness = (inOthers.get(word) ?? 0) / (others.length + (names.has(word) ? 0 : 4))
    return weightOf(word) * (1 - commonness)
  }
  const worthOfAll = (words: Iterable<string>) => [...new Set(words)].map(worthOf).reduce((a, b) => a + b, 0)
  const max = worthOfAll(wordsIn(text))
  return new Map(
    found.map(({ id, score, queryTerms }) => [
      id as number,
      { score, share: max === 0 ? 0 : worthOfAll(queryTerms) / max },
    ]),
  )
}

const segmenter = new Intl.Segmenter('und', { granularity: 'word' })

function wordsIn(text: string): string[] {
  return [...segmenter.segment(text)].flatMap(({ segment, isWordLike }) =>
    isWordLike ? segment.toLowerCase() : [],
  )
}

/** Short words are mostly function words; a stop-word list would be specific to one language. */
const weightOf = (word: string): number => Math.min(Math.max(word.length - 3, 0.25), 5)

const textOf = (input: JsonObject): string => cut([...valuesIn(input), ...namesIn(input)])

const cut = (texts: string[]): string => texts.join(' ').slice(0, TEXT_CHARACTERS)

function valuesIn(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return [String(value).slice(0, VALUE_CHARACTERS)]
  return Object.values(value).flatMap(valuesIn)
}

function namesIn(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(namesIn)
  return Object.entries(value).flatMap(([name, child]) => [name, ...namesIn(child)])
}
