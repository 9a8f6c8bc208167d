import { hasIssuer } from './card-issuers.ts'
import type { Span } from './entity.ts'

/** Not inside a word, nor the decimals of a number. */
const START = /(?<![A-Za-z0-9])(?<![0-9]\.)[0-9]{4}/g

/**
 * How cards are printed, longest first: after `4111 1111 1111 1111 123` has failed as 19 digits, the 16 before
 * the security code are tried. The separator is one blank or hyphen, the same throughout (`\1`).
 */
const SEPARATOR = '([ \\u00a0\\u202f-])'
const SHAPES = [
  '[0-9]{13,19}',
  `[0-9]{4}${SEPARATOR}[0-9]{4}\\1[0-9]{4}\\1[0-9]{4}\\1[0-9]{1,3}`,
  `[0-9]{4}${SEPARATOR}[0-9]{4}\\1[0-9]{4}\\1[0-9]{1,4}`,
  `[0-9]{4}${SEPARATOR}[0-9]{6}\\1[0-9]{4,5}`,
  `[0-9]{4}${SEPARATOR}[0-9]{4}\\1[0-9]{5}`,
  `[0-9]{6}${SEPARATOR}[0-9]{7,13}`,
].map((shape) => new RegExp(`${shape}(?![A-Za-z0-9])(?!\\.[0-9])`, 'y'))

/** Payment card numbers: 13 to 19 digits with a network's prefix and length and a right Luhn digit. */
export function findPaymentCards(text: string): Span[] {
  const spans: Span[] = []
  START.lastIndex = 0
  for (let match = START.exec(text); match; match = START.exec(text)) {
    const end = cardEnd(text, match.index)
    if (end === undefined) continue
    spans.push({ start: match.index, end })
    START.lastIndex = end
  }
  return spans
}

function cardEnd(text: string, start: number): number | undefined {
  for (const shape of SHAPES) {
    shape.lastIndex = start
    const match = shape.exec(text)
    if (!match) continue
    const end = shape.lastIndex
    const hyphenated = match[1] === '-'
    const isPartOfLonger =
      hyphenated &&
      (/[0-9]-$/.test(text.slice(Math.max(0, start - 2), start)) || /^-[0-9]/.test(text.slice(end, end + 2)))
    const digits = match[0].replace(/[^0-9]/g, '')
    if (!isPartOfLonger && hasIssuer(digits) && isLuhnValid(digits)) return end
  }
  return undefined
}

/** ISO/IEC 7812-1 annex B: every second digit from the right doubled, the sum a multiple of ten. */
function isLuhnValid(digits: string): boolean {
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index])
    const doubled = index % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
