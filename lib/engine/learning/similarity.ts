import MiniSearch from 'minisearch'
import type { Json, JsonObject } from '../../core/json.ts'

/** Characters of an input that count: of one value, so that no long one hides the others, and of all together. */
const VALUE_CHARACTERS = 500
const TEXT_CHARACTERS = 1_500

/** `score` orders those found, higher is closer; `share` is the part of the input's words that is in it, from 0 to 1. */
export type Match = { score: number; share: number }

/** By place in `others`: how each that has a word of `input` resembles it. */
export function similaritiesTo(input: JsonObject, others: JsonObject[]): Map<number, Match> {
  // Words are found by the language's own rules, where they stand without spaces too. A slip of one letter, or a
  // plural's, still matches in longer words.
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
  /** What all have says little: a name of a field nothing at all, a word the less the more others there are. */
  const worthOf = (word: string) => {
    const commonness = (inOthers.get(word) ?? 0) / (others.length + (names.has(word) ? 0 : 4))
    return weightOf(word) * (1 - commonness)
  }
  const worthOfAll = (words: Iterable<string>) => sum([...new Set(words)].map(worthOf))
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

/** Short words are mostly those that every text has; a list of them would be of one language. */
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

const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0)
