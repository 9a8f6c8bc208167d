export type EntityType =
  | 'EMAIL_ADDRESS'
  | 'PHONE_NUMBER'
  | 'PAYMENT_CARD'
  | 'IBAN'
  | 'US_SSN'
  | 'IPV4_ADDRESS'
  | 'IPV6_ADDRESS'

/** A half-open range of UTF-16 code units, as in `String.prototype.slice`. */
export interface Span {
  start: number
  end: number
}

/** Omits the detected text, so that the list of entities contains no personal data. */
export interface Entity extends Span {
  type: EntityType
  replacement: string
}

/** Returns spans in text order, without overlaps, in time linear in the length of the text. */
export type Detector = (text: string) => Span[]

export const replacementFor = (type: EntityType): string => `[${type}]`
