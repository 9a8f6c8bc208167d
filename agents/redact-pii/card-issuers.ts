interface Issuer {
  name: string
  prefix: RegExp
  lengths: number[]
}

const UP_TO_19 = [16, 17, 18, 19]

/** Issuer identification numbers (ISO/IEC 7812) of the networks in wide use, as the networks publish them. */
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

/** Whether some network issues numbers that start like this, in this length. */
export const hasIssuer = (digits: string): boolean =>
  ISSUERS.some(({ prefix, lengths }) => lengths.includes(digits.length) && prefix.test(digits))
