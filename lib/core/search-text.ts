import type { Json, JsonObject } from './json/json.ts'

/** Of one value: its beginning and its end, so that a long one does not hide the others. */
const VALUE_CHARACTERS = 500
const VALUE_END_CHARACTERS = 150

/** A run reads the texts of up to `MAX_LESSONS` executions. */
const TEXT_BYTES = 1_000

/** Created at the first use: it takes 8 ms, and every function that has the store loads this module. */
let segmenter: Intl.Segmenter | undefined

/** The words of a text in lower case, also of languages without spaces. */
export function wordsIn(text: string): string[] {
  segmenter ??= new Intl.Segmenter('und', { granularity: 'word' })
  return [...segmenter.segment(text.normalize('NFKC'))].flatMap(({ segment, isWordLike }) =>
    isWordLike ? segment.toLowerCase() : [],
  )
}

/** The words of an input by which similar ones are found, separated by spaces: those of its values, then its names. */
export function searchTextOf(input: JsonObject): string {
  const words = [...wordsIn(valuesOf(input)), ...wordsIn(namesOf(input))]
  return truncate(words.join(' '), TEXT_BYTES)
}

/** The text of an input for an embedding model, which may accept only 512 tokens. */
export const embeddingTextOf = (input: JsonObject): string => truncate(valuesOf(input), TEXT_BYTES)

/** The names of the fields of an input. */
export const namesOf = (input: JsonObject): string => take(namesIn(input))

const valuesOf = (input: JsonObject): string => take(valuesIn(input))

/** Of a large input, only as much as the search can use. */
function take(texts: Iterable<string>): string {
  let taken = ''
  for (const text of texts) {
    taken += `${taken && '\n'}${text}`
    if (taken.length > TEXT_BYTES) break
  }
  return taken.toWellFormed()
}

function* valuesIn(value: Json): Generator<string> {
  if (typeof value === 'object' && value !== null) {
    for (const child of Object.values(value)) yield* valuesIn(child)
    return
  }
  const text = String(value)
  if (text.length <= VALUE_CHARACTERS) yield text
  else yield `${text.slice(0, VALUE_CHARACTERS - VALUE_END_CHARACTERS)} ${text.slice(-VALUE_END_CHARACTERS)}`
}

function* namesIn(value: Json): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, child] of Object.entries(value)) {
    if (!Array.isArray(value)) yield name
    yield* namesIn(child)
  }
}

/** The longest beginning of whole characters with at most so many bytes of UTF-8. */
function truncate(text: string, maxBytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes))
  return text.slice(0, read)
}
