import { hashJson } from '../../core/json/hash-json.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Embedding, Lesson } from '../../core/learning.ts'
import { namesOf, searchTextOf } from '../../core/search-text.ts'
import { cosinesTo } from './embedding.ts'
import { MIN_SHARE, similaritiesTo } from './similarity.ts'

type Params = {
  input: JsonObject
  /** Of the input; null without an embedding model. */
  embedding: Embedding | null
  /** Corrected ones first, each kind newest first. */
  lessons: Lesson[]
}

/** Minimum cosine of two embeddings for a liked result, after the mean of all of them was subtracted. */
const MIN_COSINE = 0.3

/**
 * The order in which rated executions are considered: equal inputs, corrections, liked results that resemble the input;
 * each the most similar first. One per input.
 */
export function rankLessons({ input, embedding, lessons: all }: Params): Lesson[] {
  const lessons = oneOfEachInput(all)
  const matches = similaritiesTo(
    searchTextOf(input),
    namesOf(input),
    lessons.map(({ text }) => text),
  )
  const cosines = cosinesTo(embedding, lessons)
  const inputHash = hashJson(input)
  const ranked = lessons.map((lesson, index) => {
    const { score = 0, share = 0 } = matches[index] ?? {}
    const cosine = cosines[index] ?? null
    const isSimilar = lesson.isCorrected || share >= MIN_SHARE || (cosine ?? 0) >= MIN_COSINE
    return { lesson, score, cosine, isSimilar, isEqual: lesson.inputHash === inputHash }
  })
  const [equal, others] = [ranked.filter(({ isEqual }) => isEqual), ranked.filter(({ isEqual }) => !isEqual)]
  const similar = others.filter(({ isSimilar }) => isSimilar)
  const ofKind = (isCorrected: boolean) => {
    const kind = similar.filter(({ lesson }) => lesson.isCorrected === isCorrected)
    const withCosine = kind.filter(({ cosine }) => cosine !== null)
    const byWords = kind.filter(({ cosine }) => cosine === null).sort((a, b) => b.score - a.score)
    // Where only some can be compared as vectors, both lists have the same chance.
    return alternate(
      // Embeddings find synonyms, words find names and numbers.
      withCosine.sort((a, b) => (b.cosine ?? 0) + b.score - (a.cosine ?? 0) - a.score),
      byWords,
    )
  }
  return [...equal, ...ofKind(true), ...ofKind(false)].map(({ lesson }) => lesson)
}

function oneOfEachInput(lessons: Lesson[]): Lesson[] {
  const known = new Set<string>()
  return lessons.filter(({ inputHash }) => known.size < known.add(inputHash).size)
}

const alternate = <T>(a: T[], b: T[]): T[] =>
  Array.from({ length: Math.max(a.length, b.length) }, (_, index) => [
    ...a.slice(index, index + 1),
    ...b.slice(index, index + 1),
  ]).flat()
