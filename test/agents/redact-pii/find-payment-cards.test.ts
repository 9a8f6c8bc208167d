import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { findPaymentCards } from '../../../agents/redact-pii/find-payment-cards.ts'
import { type Case, findTexts } from './find-texts.ts'

/** Test numbers published by the networks. */
const CARDS = {
  Visa: '4111111111111111',
  'Visa with 13 digits': '4222222222222',
  Mastercard: '5555555555554444',
  'Mastercard of the 2-series': '2223003122003222',
  'American Express': '378282246310005',
  Discover: '6011111111111117',
  JCB: '3530111333300000',
  'Diners Club': '30569309025904',
  UnionPay: '6212345678901232',
  'Maestro with 19 digits': '6304000000000000000',
  Mir: '2200000000000004',
}

const GROUPED: Case[] = [
  ['4111 1111 1111 1111', ['4111 1111 1111 1111']],
  ['4111-1111-1111-1111.', ['4111-1111-1111-1111']],
  ['4111\u00a01111\u00a01111\u00a01111', ['4111\u00a01111\u00a01111\u00a01111']],
  ['3782 822463 10005', ['3782 822463 10005']],
  ['3056 930902 5904', ['3056 930902 5904']],
  ['6304 0000 0000 0000 000', ['6304 0000 0000 0000 000']],
  ['4111 1111 1111 1111 123', ['4111 1111 1111 1111']],
  ['4111 1111 1111 1111 12/25', ['4111 1111 1111 1111']],
  ['2 4111 1111 1111 1111', ['4111 1111 1111 1111']],
  ['4111 1111 1111 1111 5555 5555 5555 4444', ['4111 1111 1111 1111', '5555 5555 5555 4444']],
  ['4111111111111111,5555555555554444', ['4111111111111111', '5555555555554444']],
]

const NONE = [
  '4111111111111112',
  '9111111111111111',
  '411111111111116',
  '1234567812345670',
  '41111111111111110000000',
  '0004111111111111111',
  '1234-4111-1111-1111-1111',
  '4111-1111 1111-1111',
  '4111  1111  1111  1111',
  'x4111111111111111, 4111111111111111b, 0.4111111111111111',
  '1705314600123, 1705314600123456789',
  '978-3-16-148410-0, 9783161484100',
]

describe('findPaymentCards', () => {
  test.each(Object.entries(CARDS))('finds a number of type %s', (_, card) => {
    expect(findTexts(findPaymentCards, `Card ${card}.`)).toEqual([card])
  })
  test.each(GROUPED)('finds the cards in %j', (text, found) => {
    expect(findTexts(findPaymentCards, text)).toEqual(found)
  })
  test.each(NONE)('finds nothing in %j', (text) => {
    expect(findTexts(findPaymentCards, text)).toEqual([])
  })

  it('accepts exactly one of ten possible check digits', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^4[0-9]{14}$/), (start) => {
        const found = Array.from({ length: 10 }, (_, digit) =>
          findTexts(findPaymentCards, `${start}${digit}`),
        )
        expect(found.flat()).toHaveLength(1)
      }),
    )
  })
})
