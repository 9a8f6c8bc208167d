import { readFileSync } from 'node:fs'
import wordListPath from 'word-list'

const NEWLINE = 0x0a

/** The words in alphabetical order, one per line (2.8 MB). Read when a name is first compared with a misspelling. */
let words: Buffer | undefined

/** Abbreviations and technical words, of which the list lacks many. */
const TECHNICAL_WORDS = new Set(
  `
    acct addr amt api arg args async attn attr attrs auth avg bal bool cat cfg char charset cid conf
    config configs const coord ctrl ctx curr cust dept desc descr dest dev diff dir dob doc docs dst
    env est exp expr ext fmt fname freq geo gif gps gtin guid hash hex hostname hr href html http
    https iban idx img incl info init ip isbn jpeg json lang lat len lib lname lng loc lon mac max
    mbps meta mgr mime min misc mod mon msg namespace num obj opt org orig param params pct pdf pid
    pkg pmt png pos prefs prev proc prod ptr pwd qty recv ref refs regex rel repo req res resp ret rev
    sched sec seq sku sms spec sql src stat std stmt str sub svc svg sys tel temp timezone tmp tot trx
    txn txt uid upc uri url urls usd usr utc utm uuid vac val vals var vat ver vol webhook wss xml
    yaml yr zip
  `
    .trim()
    .split(/\s+/),
)

/** Whether a word in lower case is English, in any inflection and either spelling, or a technical term. */
export function isKnownWord(word: string): boolean {
  return TECHNICAL_WORDS.has(word) || isEnglishWord(word)
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
