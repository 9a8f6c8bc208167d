import type { Span } from '../entity.ts'
import { findExtensionEnd } from './extension.ts'
import type { GetPhoneValidity } from './validity.ts'

/**
 * `+`, `00` or `011 ` and 7 to 17 digits with up to three separators between them. All counts are bounded and every
 * candidate starts at its own prefix, so the scan is linear. The search of libphonenumber takes seconds per megabyte of
 * prose; only these candidates are parsed with it.
 */
const CANDIDATE =
  /(?<![A-Za-z0-9+])\(?(\+|\uff0b|00[ .-]?(?=[1-9])|011[ .-](?=[1-9]))\(?[0-9](?:[ \u00a0\u2009\u202f.\-\u2010\u2011\u2013/()]{0,3}[0-9]){6,16}/g
const WORD = /[A-Za-z0-9]/
const GROUP_END = /[0-9](?=[^0-9]+[0-9]*$)/

/** Numbers after `00` or `011` must be valid, as an id can start the same way. After a `+`, possible is enough. */
export function findInternationalPhoneNumbers(text: string, getValidity: GetPhoneValidity): Span[] {
  const spans: Span[] = []
  CANDIDATE.lastIndex = 0
  for (let match = CANDIDATE.exec(text); match; match = CANDIDATE.exec(text)) {
    const openingLength = match[0].startsWith('(') ? 1 : 0
    const prefix = match[1] ?? ''
    const bodyStart = match.index + openingLength + prefix.length
    const bodyEnd = findNumberEnd(text, bodyStart, CANDIDATE.lastIndex, prefix, getValidity)
    if (bodyEnd === undefined) {
      CANDIDATE.lastIndex = bodyStart
      continue
    }
    const body = text.slice(bodyStart, bodyEnd)
    const isClosed = body.split(')').length > body.split('(').length
    const end = findExtensionEnd(text, bodyEnd)
    spans.push({ start: match.index + (isClosed ? 0 : openingLength), end })
    CANDIDATE.lastIndex = end
  }
  return spans
}

/** A candidate can run into the next number on the line: drops its last groups until the rest is a valid number. */
function findNumberEnd(
  text: string,
  start: number,
  candidateEnd: number,
  prefix: string,
  getValidity: GetPhoneValidity,
): number | undefined {
  let possible: number | undefined
  const isPlus = prefix === '+' || prefix === '\uff0b'
  for (
    let end: number | undefined = candidateEnd;
    end !== undefined;
    end = findPreviousGroupEnd(text, start, end)
  ) {
    if (WORD.test(text[end] ?? '') && findExtensionEnd(text, end) === end) continue
    const body = text.slice(start, end)
    const digits = body.replace(/[^0-9]/g, '')
    if (digits.length < 7) break
    const isGrouped = digits.length < body.length
    // Digits that start with 001 are often an id padded with zeros.
    if (!isPlus && !isGrouped && digits.startsWith('1')) break
    const validity = getValidity(digits)
    if (validity === 'valid') return end
    if (validity === 'possible' && isPlus && isGrouped) possible ??= end
  }
  return possible
}

function findPreviousGroupEnd(text: string, start: number, end: number): number | undefined {
  const match = GROUP_END.exec(text.slice(start, end))
  return match ? start + match.index + 1 : undefined
}
