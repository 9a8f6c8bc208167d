import type { Span } from './entity.ts'
import { hasKeywordNearby } from './keyword-nearby.ts'
import { extensionEnd } from './phone-extension.ts'
import type { PhoneValidity } from './phone-validity.ts'

const NOT_BEFORE = '(?<![A-Za-z0-9+])(?<![0-9][-./(])'
const NOT_AFTER = '(?:(?=[ \\u00a0]?(?:ext|x)[ .:]?[ ]?[0-9])|(?![A-Za-z0-9])(?![-./][0-9]))'
/** (415) 555-2671, 415-555-2671, 415.555.2671, 415 555 2671, 1-800-555-0199, 1 (800) 555-0199 */
const GROUPED = '(?:1[-. ]?)?(?:\\([0-9]{3}\\)[-. ]?|[0-9]{3}[-. /])[0-9]{3}[-. ][0-9]{4}'
const BARE = '1?[2-9][0-9]{2}[2-9][0-9]{6}'
const CANDIDATE = new RegExp(`${NOT_BEFORE}(?:${GROUPED}|${BARE})${NOT_AFTER}`, 'gi')

const KEYWORD = /(?<![a-z])(?:(?:tele)?phone|mobile|fax|whatsapp|(?:tel|ph|cell|call|dial|sms)(?![a-z]))/i
const REACH = { before: 25, after: 0 }

/** North American numbers in national form. Ten digits in a row, or in a row of numbers, need a keyword. */
export function findUsPhoneNumbers(text: string, validityOf: PhoneValidity): Span[] {
  const spans: Span[] = []
  let numberEnd = 0
  for (const match of text.matchAll(CANDIDATE)) {
    const start = match.index
    const end = start + match[0].length
    const digits = match[0].replace(/[^0-9]/g, '')
    const isClear = /[-.()/]/.test(match[0]) || (match[0].includes(' ') && !isInRow(text, start, end))
    if (!isClear && !hasKeywordNearby(text, { start, end }, KEYWORD, REACH)) continue
    if (validityOf(`1${digits.slice(-10)}`) !== 'valid') continue
    const previous = spans.at(-1)
    // What looked like its extension is the beginning of this one.
    if (previous && previous.end > start) previous.end = numberEnd
    numberEnd = end
    spans.push({ start, end: extensionEnd(text, end) })
  }
  return spans
}

/** Blanks also separate the columns of a table: `512 256 1024 2048`. */
const isInRow = (text: string, start: number, end: number) =>
  /[0-9] $/.test(text.slice(Math.max(0, start - 2), start)) || /^ [0-9]/.test(text.slice(end, end + 2))
