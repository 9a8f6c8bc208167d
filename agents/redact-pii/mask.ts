import type { Span } from './entity.ts'

/** Stands for each code unit already found. No detector takes it for a letter, a digit or punctuation. */
export const FILLER = '\u0000'

const PLACEHOLDER = /\[(?:EMAIL_ADDRESS|PHONE_NUMBER|PAYMENT_CARD|IBAN|US_SSN|IPV4_ADDRESS|IPV6_ADDRESS)\]/g

/** The text with the spans (sorted, not overlapping) blanked at the same length, so that offsets hold. */
export function maskSpans(text: string, spans: Span[]): string {
  if (spans.length === 0) return text
  const parts: string[] = []
  let position = 0
  for (const { start, end } of spans) {
    parts.push(text.slice(position, start), FILLER.repeat(end - start))
    position = end
  }
  parts.push(text.slice(position))
  return parts.join('')
}

/**
 * Blanks replacements that the text already carries. Text redacted before then reads as it did with its
 * entities masked: the `SSN` of `[US_SSN]` is no keyword, and redacting twice changes nothing.
 */
export const maskPlaceholders = (text: string): string =>
  text.replace(PLACEHOLDER, (placeholder) => FILLER.repeat(placeholder.length))
