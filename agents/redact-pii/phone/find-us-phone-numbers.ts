import type { Span } from '../entity.ts'
import { hasKeywordNearby } from '../keyword-nearby.ts'
import { findExtensionEnd } from './extension.ts'
import type { GetPhoneValidity } from './validity.ts'

const NOT_BEFORE = '(?<![A-Za-z0-9+])(?<![0-9][-./(])'
const NOT_AFTER = '(?:(?=[ \\u00a0]?(?:ext|x)[ .:]?[ ]?[0-9])|(?![A-Za-z0-9])(?![-./][0-9]))'
/** (415) 555-2671, 415-555-2671, 415.555.2671, 415 555 2671, 1-800-555-0199, 1 (800) 555-0199 */
const GROUPED = '(?:1[-. ]?)?(?:\\([0-9]{3}\\)[-. ]?|[0-9]{3}[-. /])[0-9]{3}[-. ][0-9]{4}'
const UNGROUPED = '1?[2-9][0-9]{2}[2-9][0-9]{6}'
const CANDIDATE = new RegExp(`${NOT_BEFORE}(?:${GROUPED}|${UNGROUPED})${NOT_AFTER}`, 'gi')

const KEYWORD = /(?<![a-z])(?:(?:tele)?phone|mobile|fax|whatsapp|(?:tel|ph|cell|call|dial|sms)(?![a-z]))/i
const KEYWORD_WINDOW = { before: 25, after: 0 }

/** Finds North American numbers in national format. Ten digits in a row, or in a row of numbers, need a keyword. */
export function findUsPhoneNumbers(text: string, getValidity: GetPhoneValidity): Span[] {
  const spans: Span[] = []
  let numberEnd = 0
  for (const match of text.matchAll(CANDIDATE)) {
    const start = match.index
    const end = start + match[0].length
    const digits = match[0].replace(/[^0-9]/g, '')
    const isUnambiguous =
      /[-.()/]/.test(match[0]) || (match[0].includes(' ') && !isInRowOfNumbers(text, start, end))
    if (!isUnambiguous && !hasKeywordNearby(text, { start, end }, KEYWORD, KEYWORD_WINDOW)) continue
    if (getValidity(`1${digits.slice(-10)}`) !== 'valid') continue
    const previous = spans.at(-1)
    // The apparent extension of the previous number is the start of this one.
    if (previous && previous.end > start) previous.end = numberEnd
    numberEnd = end
    spans.push({ start, end: findExtensionEnd(text, end) })
  }
  return spans
}

/** Spaces also separate the columns of a table: `512 256 1024 2048`. */
const isInRowOfNumbers = (text: string, start: number, end: number) =>
  /[0-9] $/.test(text.slice(Math.max(0, start - 2), start)) || /^ [0-9]/.test(text.slice(end, end + 2))
