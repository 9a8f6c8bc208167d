import type { Span } from './entity.ts'

interface Issuer {
  name: string
  prefix: RegExp
  lengths: number[]
}

const UP_TO_19 = [16, 17, 18, 19]

/** Issuer identification numbers (ISO/IEC 7812) as published by the major networks. */
const ISSUERS: Issuer[] = [
  { name: 'Visa', prefix: /^4/, lengths: [13, 16, 19] },
  { name: 'Mastercard', prefix: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, lengths: [16] },
  { name: 'American Express', prefix: /^3[47]/, lengths: [15] },
  { name: 'Discover', prefix: /^(?:6011|64[4-9]|65)/, lengths: UP_TO_19 },
  { name: 'JCB', prefix: /^35(?:2[89]|[3-8])/, lengths: UP_TO_19 },
  { name: 'Diners Club', prefix: /^(?:30[0-5]|3095|36|3[89])/, lengths: [14, ...UP_TO_19] },
  { name: 'UnionPay', prefix: /^(?:62|81)/, lengths: UP_TO_19 },
  { name: 'Maestro', prefix: /^(?:50|5[6-9]|63|67)/, lengths: [13, 14, 15, ...UP_TO_19] },
  { name: 'Mir', prefix: /^220[0-4]/, lengths: UP_TO_19 },
]

/** Not inside a word, and not the decimals of a number. */
const START = /(?<![A-Za-z0-9])(?<![0-9]\.)[0-9]{4}/g

/**
 * Printed formats, longest first: when `4111 1111 1111 1111 123` fails as 19 digits, the 16 digits before the security
 * code are tried. The separator is one space or hyphen, the same throughout (`\1`).
 */
const SEPARATOR = '([ \\u00a0\\u202f-])'
const FORMATS = [
  '[0-9]{13,19}',
  `[0-9]{4}${SEPARATOR}[0-9]{4}\\1[0-9]{4}\\1[0-9]{4}\\1[0-9]{1,3}`,
  `[0-9]{4}${SEPARATOR}[0-9]{4}\\1[0-9]{4}\\1[0-9]{1,4}`,
  `[0-9]{4}${SEPARATOR}[0-9]{6}\\1[0-9]{4,5}`,
  `[0-9]{4}${SEPARATOR}[0-9]{4}\\1[0-9]{5}`,
  `[0-9]{6}${SEPARATOR}[0-9]{7,13}`,
].map((format) => new RegExp(`${format}(?![A-Za-z0-9])(?!\\.[0-9])`, 'y'))

/** Finds 13 to 19 digits with the prefix and length of a card network and a valid Luhn check digit. */
export function findPaymentCards(text: string): Span[] {
  const spans: Span[] = []
  START.lastIndex = 0
  for (let match = START.exec(text); match; match = START.exec(text)) {
    const end = findCardEnd(text, match.index)
    if (end === undefined) continue
    spans.push({ start: match.index, end })
    START.lastIndex = end
  }
  return spans
}

function findCardEnd(text: string, start: number): number | undefined {
  for (const format of FORMATS) {
    format.lastIndex = start
    const match = format.exec(text)
    if (!match) continue
    const end = format.lastIndex
    const isHyphenated = match[1] === '-'
    const isPartOfLonger =
      isHyphenated &&
      (/[0-9]-$/.test(text.slice(Math.max(0, start - 2), start)) || /^-[0-9]/.test(text.slice(end, end + 2)))
    const digits = match[0].replace(/[^0-9]/g, '')
    if (!isPartOfLonger && hasIssuer(digits) && isLuhnValid(digits)) return end
  }
  return undefined
}

const hasIssuer = (digits: string): boolean =>
  ISSUERS.some(({ prefix, lengths }) => lengths.includes(digits.length) && prefix.test(digits))

/** ISO/IEC 7812-1 annex B: double every second digit from the right; the sum must be a multiple of ten. */
function isLuhnValid(digits: string): boolean {
  let sum = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index])
    const doubled = index % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}
