import { closest, distance } from 'fastest-levenshtein'

/** A name prepared for comparison. `normalized` ignores case and separators; `digits` keeps only the numbers. */
export type ParsedName = { name: string; normalized: string; words: string[]; digits: string }

/** A name without separators and letters that need Unicode rules. Nearly all names are like this. */
const PLAIN_NAME = /^[A-Za-z0-9]+$/

/** Text in which letters have only one form. */
const ASCII = /^[ -~]*$/

const SEPARATORS = /[\s_.-]+/gu

/** Marks around names: `@id` (XML), `$name`, `tags[]`, and labels of forms such as `Name *` and `Name:`. */
const MARKS_AROUND = /^[\s_.@$-]+|(?:[\s_.*:?-]|\[\])+$/gu

/** Longer names and texts are compared literally: others would be slow, and are unlikely to be misspellings. */
const MAX_CHARACTERS = 256

export function parseName(name: string): ParsedName {
  const spaced = (ASCII.test(name) ? name : name.normalize('NFKC'))
    .replace(MARKS_AROUND, '')
    .replace(/(?<=[\p{Ll}\p{Nd}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
  const words = foldCase(spaced).split(SEPARATORS).filter(Boolean)
  return { name, normalized: normalizeName(name), words, digits: name.replace(/\P{Nd}+/gu, ' ').trim() }
}

/**
 * Removes case, separators and marks around the name, so that `artist-name` equals `artistName`. A separator between
 * digits becomes `_`. Empty when nothing is left to compare.
 */
export function normalizeName(name: string): string {
  if (name.length > MAX_CHARACTERS) return ''
  if (PLAIN_NAME.test(name)) return name.toLowerCase()
  return removeSeparators(foldCase(name).replace(MARKS_AROUND, ''), () => '_')
}

/** Like `normalizeName`, but keeps separators at the ends and between digits (`-1` is not `1`, `1.5` not `1-5`). */
export function normalizeText(text: string): string {
  return text.length > MAX_CHARACTERS ? text : removeSeparators(foldCase(text), (separators) => separators)
}

/** Removes case and surrounding white space. Converts to upper case first, so that `ß` equals `ss`. */
export function foldCase(text: string): string {
  if (text.length > MAX_CHARACTERS) return text
  return ASCII.test(text)
    ? text.trim().toLowerCase()
    : text.normalize('NFKC').trim().toUpperCase().toLowerCase()
}

function removeSeparators(text: string, betweenDigits: (separators: string) => string): string {
  return text.replace(SEPARATORS, (separators, start: number) => {
    const before = text[start - 1] ?? ''
    const after = text[start + separators.length] ?? ''
    if (before === '' || after === '') return separators
    return /\p{Nd}/u.test(before) && /\p{Nd}/u.test(after) ? betweenDigits(separators) : ''
  })
}

/** The known name most similar to a given one, for "did you mean"; undefined when none is similar enough. */
export function findSimilarName(name: string, known: readonly string[]): string | undefined {
  const normalized = normalizeName(name)
  if (known.length === 0 || normalized === '') return undefined
  const nearest = closest(normalized, known.map(normalizeName))
  if (distance(normalized, nearest) * 2 > Math.max(normalized.length, nearest.length)) return undefined
  return known.find((candidate) => normalizeName(candidate) === nearest)
}
