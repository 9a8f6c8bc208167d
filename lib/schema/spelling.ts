import { closest, distance } from 'fastest-levenshtein'

/** A name in the forms that comparisons need. `loose` has neither case nor separators. */
export type Name = { name: string; loose: string; words: string[]; digits: string }

const SEPARATORS = /[\s_.-]+/gu

export function nameOf(name: string): Name {
  const spaced = name.normalize('NFKC').replace(/([\p{Ll}\p{Nd}])(?=\p{Lu})/gu, '$1 ')
  const words = folded(spaced).split(SEPARATORS).filter(Boolean)
  return { name, loose: looseName(name), words, digits: name.replace(/\P{Nd}+/gu, ' ').trim() }
}

/** Longer names and texts are compared as they are: it would take long, and they mean nothing else. */
const MAX_CHARACTERS = 256

/**
 * Without case and separators: `artist-name` and `artistName` are alike. Between digits a separator stays. Empty when
 * nothing is left to compare.
 */
export function looseName(name: string): string {
  if (name.length > MAX_CHARACTERS) return ''
  return dropSeparators(folded(name).replace(/^[\s_.-]+|[\s_.-]+$/gu, ''), () => '_')
}

/** Like `looseName`, but what stands around a text or between its digits stays: `-1` is not `1`, nor `1.5` `1-5`. */
export function looseText(text: string): string {
  return text.length > MAX_CHARACTERS ? text : dropSeparators(folded(text), (separators) => separators)
}

/** Without case and surrounding blanks: by way of capitals, so that `ß` is `ss`. */
export function folded(text: string): string {
  if (text.length > MAX_CHARACTERS) return text
  return text.normalize('NFKC').trim().toUpperCase().toLowerCase()
}

function dropSeparators(text: string, betweenDigits: (separators: string) => string): string {
  return text.replace(SEPARATORS, (run, start: number) => {
    const before = text[start - 1] ?? ''
    const after = text[start + run.length] ?? ''
    if (before === '' || after === '') return run
    return /\p{Nd}/u.test(before) && /\p{Nd}/u.test(after) ? betweenDigits(run) : ''
  })
}

/**
 * Whether two names are so near that they can mean the same field: alike but for case and separators, singular and
 * plural, or spelled differently in a letter (two from eight letters on). Names with other digits or another first
 * letter never are (`line1`, `line2`; `gender`, `sender`), nor are short names and words (`minPrice`, `maxPrice`).
 */
export function isNear(a: Name, b: Name): boolean {
  if (a.loose === '' || b.loose === '') return false
  if (a.loose === b.loose) return true
  if (a.digits !== b.digits || a.loose[0] !== b.loose[0]) return false
  return isPlural(a.loose, b.loose) || isPlural(b.loose, a.loose) || isMisspelt(a, b)
}

function isMisspelt(a: Name, b: Name): boolean {
  if (!isFewEdits(a.loose, b.loose)) return false
  if (a.words.length !== b.words.length) return true
  return a.words.every((word, i) => word === b.words[i] || isFewEdits(word, b.words[i] ?? ''))
}

function isFewEdits(a: string, b: string): boolean {
  const letters = Math.min(a.length, b.length)
  const difference = Math.abs(a.length - b.length)
  if (letters < 4 || difference > 2) return false
  const edits = distance(a, b)
  // Two letters in the same places are another word (minprice, maxprice), unless they have only changed places.
  if (edits === 2) return difference > 0 ? letters >= 8 : letters > 4 && isTransposed(a, b)
  return edits === 1
}

/** Of two texts that differ: whether they do so by two letters that have changed places. */
function isTransposed(a: string, b: string): boolean {
  let at = 0
  while (a[at] === b[at]) at += 1
  return a.slice(0, at) + a[at + 1] + a[at] + a.slice(at + 2) === b
}

function isPlural(many: string, one: string): boolean {
  if (one.length < 3) return false
  if (/[^aeiou]y$/.test(one) && many === `${one.slice(0, -1)}ies`) return true
  return many === one + (/(?:s|x|z|ch|sh|o)$/.test(one) ? 'es' : 's')
}

/** The name that is most like another, for a hint; undefined when none is. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const loose = looseName(name)
  if (known.length === 0 || loose === '') return undefined
  const nearest = closest(loose, known.map(looseName))
  if (distance(loose, nearest) * 2 > Math.max(loose.length, nearest.length)) return undefined
  return known.find((candidate) => looseName(candidate) === nearest)
}
