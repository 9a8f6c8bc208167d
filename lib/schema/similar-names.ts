import { closest, distance } from 'fastest-levenshtein'

/** A name prepared for comparison. `normalized` ignores case and separators; `digits` keeps only the numbers. */
export type ParsedName = { name: string; normalized: string; words: string[]; digits: string }

/** A name without separators and letters that need Unicode rules. Nearly all names are like this. */
const PLAIN_NAME = /^[A-Za-z0-9]+$/

const SEPARATORS = /[\s_.-]+/gu

/** Longer names and texts are compared literally: a comparison would be slow, and they are unlikely to be misspellings. */
const MAX_CHARACTERS = 256

export function parseName(name: string): ParsedName {
  const spaced = name.normalize('NFKC').replace(/([\p{Ll}\p{Nd}])(?=\p{Lu})/gu, '$1 ')
  const words = foldCase(spaced).split(SEPARATORS).filter(Boolean)
  return { name, normalized: normalizeName(name), words, digits: name.replace(/\P{Nd}+/gu, ' ').trim() }
}

/**
 * Removes case and separators, so that `artist-name` equals `artistName`. A separator between digits becomes `_`. Empty
 * when nothing is left to compare.
 */
export function normalizeName(name: string): string {
  if (name.length > MAX_CHARACTERS) return ''
  if (PLAIN_NAME.test(name)) return name.toLowerCase()
  return removeSeparators(foldCase(name).replace(/^[\s_.-]+|[\s_.-]+$/gu, ''), () => '_')
}

/** Like `normalizeName` for values: keeps separators at the ends and between digits (`-1` is not `1`, `1.5` is not `1-5`). */
export function normalizeText(text: string): string {
  return text.length > MAX_CHARACTERS ? text : removeSeparators(foldCase(text), (separators) => separators)
}

/** Removes case and surrounding white space. Converts to upper case first, so that `ß` equals `ss`. */
export function foldCase(text: string): string {
  if (text.length > MAX_CHARACTERS) return text
  return text.normalize('NFKC').trim().toUpperCase().toLowerCase()
}

function removeSeparators(text: string, betweenDigits: (separators: string) => string): string {
  return text.replace(SEPARATORS, (separators, start: number) => {
    const before = text[start - 1] ?? ''
    const after = text[start + separators.length] ?? ''
    if (before === '' || after === '') return separators
    return /\p{Nd}/u.test(before) && /\p{Nd}/u.test(after) ? betweenDigits(separators) : ''
  })
}

/**
 * Whether two names probably mean the same field: equal except for case and separators, singular and plural, or one
 * typo apart (two from eight letters on). Names that differ in digits or in the first letter are never similar (`line1`
 * and `line2`, `gender` and `sender`), nor are short names and words (`minPrice` and `maxPrice`).
 */
export function isSimilar(a: ParsedName, b: ParsedName): boolean {
  if (a.normalized === '' || b.normalized === '') return false
  if (a.normalized === b.normalized) return true
  if (a.digits !== b.digits || a.normalized[0] !== b.normalized[0]) return false
  return isPluralOf(a.normalized, b.normalized) || isPluralOf(b.normalized, a.normalized) || isTypoOf(a, b)
}

function isTypoOf(a: ParsedName, b: ParsedName): boolean {
  if (!hasFewEdits(a.normalized, b.normalized)) return false
  if (a.words.length !== b.words.length) return true
  return a.words.every((word, i) => word === b.words[i] || hasFewEdits(word, b.words[i] ?? ''))
}

function hasFewEdits(a: string, b: string): boolean {
  const letters = Math.min(a.length, b.length)
  const difference = Math.abs(a.length - b.length)
  if (letters < 4 || difference > 2) return false
  const edits = distance(a, b)
  // Two replaced letters make another word (minprice, maxprice), unless the letters are swapped.
  if (edits === 2) return difference > 0 ? letters >= 8 : letters > 4 && isTransposed(a, b)
  return edits === 1
}

/** Whether two different texts differ only in two adjacent letters that are swapped. */
function isTransposed(a: string, b: string): boolean {
  let at = 0
  while (a[at] === b[at]) at += 1
  return a.slice(0, at) + a[at + 1] + a[at] + a.slice(at + 2) === b
}

function isPluralOf(plural: string, singular: string): boolean {
  if (singular.length < 3) return false
  if (/[^aeiou]y$/.test(singular) && plural === `${singular.slice(0, -1)}ies`) return true
  return plural === singular + (/(?:s|x|z|ch|sh|o)$/.test(singular) ? 'es' : 's')
}

/** The known name most similar to a given one, for "did you mean"; undefined when none is similar enough. */
export function findSimilarName(name: string, known: readonly string[]): string | undefined {
  const normalized = normalizeName(name)
  if (known.length === 0 || normalized === '') return undefined
  const nearest = closest(normalized, known.map(normalizeName))
  if (distance(normalized, nearest) * 2 > Math.max(normalized.length, nearest.length)) return undefined
  return known.find((candidate) => normalizeName(candidate) === nearest)
}
