/** What is looked for; the order has no meaning (`find-entities.ts` holds the priorities). */
export type EntityType =
  | 'EMAIL_ADDRESS'
  | 'PHONE_NUMBER'
  | 'PAYMENT_CARD'
  | 'IBAN'
  | 'US_SSN'
  | 'IPV4_ADDRESS'
  | 'IPV6_ADDRESS'

/** Half-open range of UTF-16 code units, as `String.prototype.slice` takes it. */
export interface Span {
  start: number
  end: number
}

/** The found text itself is left out on purpose: whoever reads the entities must not get the PII. */
export interface Entity extends Span {
  type: EntityType
  replacement: string
}

/** Finds its spans in text order, none overlapping another, in time linear in the text's length. */
export type Detector = (text: string) => Span[]

export const replacementOf = (type: EntityType): string => `[${type}]`
