import type { Span } from './entity.ts'
import { hasKeywordNearby } from './keyword-nearby.ts'

/** The Social Security Administration assigns no area 000, 666 or 9xx, no group 00 and no serial 0000. */
const AREA = '(?!000|666|9)[0-9]{3}'
const GROUP = '(?!00)[0-9]{2}'
const SERIAL = '(?!0000)[0-9]{4}'
/** A hyphen, a typographic hyphen or dash, or one space; the same in both positions. */
const SEPARATOR = '([-\\u2010\\u2011\\u2013 \\u00a0])'
const NOT_BEFORE = '(?<![A-Za-z0-9])(?<![0-9][-.])'
const NOT_AFTER = '(?![A-Za-z0-9])(?![-.][0-9])'
const NUMBER = new RegExp(
  `${NOT_BEFORE}${AREA}(?:${SEPARATOR}${GROUP}\\1|${GROUP})${SERIAL}${NOT_AFTER}`,
  'g',
)

const KEYWORD = /(?<![a-z])(?:ssns?|social[\s_-]{0,3}security|soc\.?\s?sec)(?![a-z])/i
const KEYWORD_WINDOW = { before: 50, after: 25 }

/** Finds US Social Security numbers. Nine digits in a row, or in a row of numbers, need a keyword nearby. */
export function findSocialSecurityNumbers(text: string): Span[] {
  const spans: Span[] = []
  for (const match of text.matchAll(NUMBER)) {
    const span = { start: match.index, end: match.index + match[0].length }
    if (isUnambiguous(text, span, match[1]) || hasKeywordNearby(text, span, KEYWORD, KEYWORD_WINDOW))
      spans.push(span)
  }
  return spans
}

function isUnambiguous(text: string, { start, end }: Span, separator: string | undefined): boolean {
  if (separator === undefined) return false
  if (separator !== ' ') return true
  return (
    !/[0-9] $/.test(text.slice(Math.max(0, start - 2), start)) && !/^ [0-9]/.test(text.slice(end, end + 2))
  )
}
