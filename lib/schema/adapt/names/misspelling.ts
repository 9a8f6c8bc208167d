import { readFileSync } from 'node:fs'
import { distance } from 'fastest-levenshtein'
import wordListPath from 'word-list'
import type { ParsedName } from '../../similar-names.ts'

/**
 * Whether a name is probably a misspelling of another: one typo apart (two from eight letters on), in a word that does
 * not exist where the other name has one that does. Names that differ in digits or in the first letter are never
 * similar (`line1` and `line2`, `gender` and `sender`), nor are two real words (`payer` and `payee`).
 */
export function isMisspelling(sent: ParsedName, declared: ParsedName): boolean {
  if (sent.digits !== declared.digits || sent.normalized[0] !== declared.normalized[0]) return false
  if (!hasFewEdits(sent.normalized, declared.normalized)) return false
  const pairs = pairWords(sent, declared) ?? []
  const isTypo = ([word, meant]: WordPair) =>
    word[0] === meant[0] &&
    hasFewEdits(word, meant, minLetters(meant, sent.normalized)) &&
    !isKnownWord(word) &&
    isEnglishWord(meant)
  return pairs.length > 0 && pairs.every(isTypo)
}

/** A word of four letters is long enough where the rest of a long name is equal. */
const minLetters = (word: string, name: string) => (name.length >= 8 && word.length === 4 ? 3 : undefined)

type WordPair = [sent: string, declared: string]

/** The words that differ. Undefined if the names do not consist of the same number of words. */
function pairWords(sent: ParsedName, declared: ParsedName): WordPair[] | undefined {
  if (sent.words.length === declared.words.length)
    return sent.words
      .map((word, index): WordPair => [word, declared.words[index] ?? ''])
      .filter(([word, meant]) => word !== meant)
  if (sent.words.length === 1) return pairWithJoined(declared.words, sent.normalized)
  if (declared.words.length !== 1) return undefined
  return pairWithJoined(sent.words, declared.normalized)?.map(([word, meant]) => [meant, word])
}

/** Aligns words with a name that joins them, such as `artistnme`. Undefined unless exactly one word differs. */
function pairWithJoined(words: readonly string[], joined: string): WordPair[] | undefined {
  let [first, last, rest] = [0, words.length, joined]
  for (; first < last - 1 && rest.startsWith(words[first] ?? ''); first += 1)
    rest = rest.slice(words[first]?.length)
  for (; last > first + 1 && rest.endsWith(words[last - 1] ?? ''); last -= 1)
    rest = rest.slice(0, -(words[last - 1]?.length ?? 0))
  const [word = ''] = words.slice(first)
  return last - first === 1 && rest !== '' ? [[rest, word]] : undefined
}

function hasFewEdits(a: string, b: string, minLength = 4): boolean {
  const [shorter, longer] = [Math.min(a.length, b.length), Math.max(a.length, b.length)]
  if (shorter < minLength || longer < minLength + 1 || longer - shorter > 2) return false
  const edits = distance(a, b)
  // Two replaced letters make another word (minprice, maxprice), unless the letters are swapped.
  if (edits === 2) return longer > shorter ? shorter >= 8 : isTransposed(a, b)
  return edits === 1
}

/** Whether two different texts differ only in two adjacent letters that are swapped. */
function isTransposed(a: string, b: string): boolean {
  let at = 0
  while (a[at] === b[at]) at += 1
  return a.slice(0, at) + a[at + 1] + a[at] + a.slice(at + 2) === b
}

const NEWLINE = 0x0a

/** The words in alphabetical order, one per line (2.8 MB). Read when a name is first compared with a misspelling. */
let words: Buffer | undefined

/** Abbreviations and technical words that the list lacks, and that are one typo away from a word. */
const TECHNICAL_WORDS = new Set(
  (
    'acct addr arg args async attn attr attrs auth charset config configs const coord ctrl cust dept ' +
    'desc descr dest dir dst env exp expr ext fname freq gps gtin href html http https iban incl init ' +
    'isbn jpeg json len lname lng loc lon mbps min misc namespace nodejs num orig param params pct pid ' +
    'png prefs prev proc recv regex rel resp sched sku sms std stmt str sys timezone tmp txt uri urls ' +
    'usd usr uuid val vals ver webhook wss yaml'
  ).split(' '),
)

/** The shortest parts of a joined name such as `timedout`. Shorter ones occur in misspellings: `cat` in `catgory`. */
const MIN_FIRST_PART = 4
const MIN_SECOND_PART = 3

/** Whether a word in lower case is English (any inflection or spelling), a technical term, or two such words. */
function isKnownWord(word: string): boolean {
  if (TECHNICAL_WORDS.has(word) || isEnglishWord(word)) return true
  for (let end = MIN_FIRST_PART; end <= word.length - MIN_SECOND_PART; end += 1)
    if (isEnglishWord(word.slice(0, end)) && isEnglishWord(word.slice(end))) return true
  return false
}

function isEnglishWord(word: string): boolean {
  words ??= readFileSync(wordListPath)
  const wanted = Buffer.from(word)
  let [start, end] = [0, words.length]
  while (start < end) {
    const lineStart = words.lastIndexOf(NEWLINE, Math.max(((start + end) >> 1) - 1, 0)) + 1
    const from = Math.max(lineStart, start)
    const newline = words.indexOf(NEWLINE, from)
    const to = newline < 0 ? words.length : newline
    const order = words.compare(wanted, 0, wanted.length, from, to)
    if (order === 0) return true
    if (order < 0) start = to + 1
    else end = from
  }
  return false
}
