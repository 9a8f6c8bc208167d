import { readFileSync } from 'node:fs'
import wordListPath from 'word-list'

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

/** The shortest parts of a joined name such as `timedout`. Shorter ones also occur in misspellings: `cat` in `catgory`. */
const MIN_FIRST_PART = 4
const MIN_SECOND_PART = 3

/** Whether a word in lower case is English, in any inflection and either spelling, a technical term, or two such words. */
export function isKnownWord(word: string): boolean {
  if (TECHNICAL_WORDS.has(word) || isEnglishWord(word)) return true
  for (let end = MIN_FIRST_PART; end <= word.length - MIN_SECOND_PART; end += 1)
    if (isEnglishWord(word.slice(0, end)) && isEnglishWord(word.slice(end))) return true
  return false
}

export function isEnglishWord(word: string): boolean {
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
