import type { Span } from './entity.ts'

/** Replaces each code unit that was already detected. No detector treats it as a letter, a digit or punctuation. */
export const MASK = '\u0000'

const PLACEHOLDER = /\[(?:EMAIL_ADDRESS|PHONE_NUMBER|PAYMENT_CARD|IBAN|US_SSN|IPV4_ADDRESS|IPV6_ADDRESS)\]/g

/** Masks spans (sorted, without overlaps). The text keeps its length, so that offsets stay valid. */
export function maskSpans(text: string, spans: Span[]): string {
  if (spans.length === 0) return text
  const parts: string[] = []
  let position = 0
  for (const { start, end } of spans) {
    parts.push(text.slice(position, start), MASK.repeat(end - start))
    position = end
  }
  parts.push(text.slice(position))
  return parts.join('')
}

/**
 * Masks placeholders of an earlier redaction, so that redacting a text twice changes nothing: the `SSN` in `[US_SSN]`
 * is not a keyword.
 */
export const maskPlaceholders = (text: string): string =>
  text.replace(PLACEHOLDER, (placeholder) => MASK.repeat(placeholder.length))
