import type { Span } from './entity.ts'
import { extensionEnd } from './phone-extension.ts'
import type { PhoneValidity } from './phone-validity.ts'

/**
 * `+`, `00` or `011 ` and 7 to 17 digits with up to three separators between. All counts are bounded and every
 * candidate starts at its own prefix, so the text is read in linear time; the library's own search takes
 * seconds per megabyte of prose, and gets only these candidates.
 */
const CANDIDATE =
  /(?<![A-Za-z0-9+])\(?(\+|\uff0b|00[ .-]?(?=[1-9])|011[ .-](?=[1-9]))\(?[0-9](?:[ \u00a0\u2009\u202f.\-\u2010\u2011\u2013/()]{0,3}[0-9]){6,16}/g
const WORD = /[A-Za-z0-9]/
const GROUP_END = /[0-9](?=[^0-9]+[0-9]*$)/

/** International numbers. `00` and `011` may also start an id: those must be valid, after a `+` possible will do. */
export function findInternationalPhoneNumbers(text: string, validityOf: PhoneValidity): Span[] {
  const spans: Span[] = []
  CANDIDATE.lastIndex = 0
  for (let match = CANDIDATE.exec(text); match; match = CANDIDATE.exec(text)) {
    const opening = match[0].startsWith('(') ? 1 : 0
    const prefix = match[1] ?? ''
    const bodyStart = match.index + opening + prefix.length
    const bodyEnd = numberEnd(text, bodyStart, CANDIDATE.lastIndex, prefix, validityOf)
    if (bodyEnd === undefined) {
      CANDIDATE.lastIndex = bodyStart
      continue
    }
    const closed =
      text.slice(bodyStart, bodyEnd).split(')').length > text.slice(bodyStart, bodyEnd).split('(').length
    const end = extensionEnd(text, bodyEnd)
    spans.push({ start: match.index + (closed ? 0 : opening), end })
    CANDIDATE.lastIndex = end
  }
  return spans
}

/**
 * The candidate may run on into the next number of the line, so its last groups are dropped until the rest
 * is a valid number.
 */
function numberEnd(
  text: string,
  start: number,
  candidateEnd: number,
  prefix: string,
  validityOf: PhoneValidity,
): number | undefined {
  let possible: number | undefined
  const isPlus = prefix === '+' || prefix === '\uff0b'
  for (
    let end: number | undefined = candidateEnd;
    end !== undefined;
    end = previousGroupEnd(text, start, end)
  ) {
    if (WORD.test(text[end] ?? '') && extensionEnd(text, end) === end) continue
    const body = text.slice(start, end)
    const digits = body.replace(/[^0-9]/g, '')
    if (digits.length < 7) break
    const isGrouped = digits.length < body.length
    // A bare 001… is as often an id padded with zeros.
    if (!isPlus && !isGrouped && digits.startsWith('1')) break
    const validity = validityOf(digits)
    if (validity === 'valid') return end
    if (validity === 'possible' && isPlus && isGrouped) possible ??= end
  }
  return possible
}

function previousGroupEnd(text: string, start: number, end: number): number | undefined {
  const match = GROUP_END.exec(text.slice(start, end))
  return match ? start + match.index + 1 : undefined
}
