import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { findIbans } from '../../../agents/redact-pii/find-ibans.ts'
import { findIpv4Addresses, findIpv6Addresses } from '../../../agents/redact-pii/find-ip-addresses.ts'
import { findPaymentCards } from '../../../agents/redact-pii/find-payment-cards.ts'
import { findSocialSecurityNumbers } from '../../../agents/redact-pii/find-social-security-numbers.ts'
import { MASK } from '../../../agents/redact-pii/mask.ts'
import { type Case, findTexts, testDetector } from './redaction.ts'

/** Examples from the SWIFT IBAN registry. */
const IBANS = [
  'DE89370400440532013000',
  'GB29NWBK60161331926819',
  'FR1420041010050500013M02606',
  'NL91ABNA0417164300',
  'NO9386011117947',
  'ES9121000418450200051332',
  'IT60X0542811101000000123456',
  'CH9300762011623852957',
  'MT84MALT011000012345MTLCAST001S',
  'SA0380000000608010167519',
  'BR1800360305000010009795493C1',
]

const groupByFour = (iban: string, separator: string) => iban.replace(/(.{4})(?=.)/g, `$1${separator}`)

const IN_CONTEXT: Case[] = [
  ['IBAN DE89 3704 0044 0532 0130 00 and more', ['DE89 3704 0044 0532 0130 00']],
  ['NO93 8601 1117 947 kr', ['NO93 8601 1117 947']],
  [
    'DE89 3704 0044 0532 0130 00 GB29 NWBK 6016 1331 9268 19',
    ['DE89 3704 0044 0532 0130 00', 'GB29 NWBK 6016 1331 9268 19'],
  ],
  ['IBAN:NL91ABNA0417164300,', ['NL91ABNA0417164300']],
]

describe('findIbans', () => {
  const NONE = [
    'DE88370400440532013000',
    'DE8937040044053201300',
    'DE893704004405320130001',
    'XX89370400440532013000',
    'ADE89370400440532013000',
    'DE89 370 400440532013000',
    'DE89 3704 0044 0532 0130',
    'sha1 da39a3ee5e6b4b0d3255bfef95601890afd80709',
  ]

  test.each(IBANS)('finds %s ungrouped, grouped and in lower case', (iban) => {
    for (const separator of ['', ' ', '\u00a0', '\u202f', '-'])
      for (const form of [groupByFour(iban, separator), groupByFour(iban.toLowerCase(), separator)])
        expect(findTexts(findIbans, `to ${form} now`)).toEqual([form])
  })
  testDetector(findIbans, IN_CONTEXT, NONE)

  it('rejects an IBAN with one digit changed', () => {
    for (const digit of '012456789') expect(findIbans(`DE89${digit}70400440532013000`)).toEqual([])
  })

  it('accepts an IBAN when only its national check digit is wrong', () => {
    expect(findTexts(findIbans, 'NO6686011117948')).toEqual(['NO6686011117948'])
  })
})

const IPV4: Case[] = [
  ['192.168.0.1, 0.0.0.0. (255.255.255.255)', ['192.168.0.1', '0.0.0.0', '255.255.255.255']],
  ['http://10.0.0.1:8080/x 10.0.0.0/24', ['10.0.0.1', '10.0.0.0']],
  ['10.0.0.1-10.0.0.9', ['10.0.0.1', '10.0.0.9']],
  ['Connected to 10.0.0.1. Next', ['10.0.0.1']],
]

const NO_IPV4 = [
  '1.2.3, 1.2.3.4.5, 256.1.1.1, 1.2.3.1000, 01.2.3.4',
  'v1.2.3.4, 1.2.3.4-beta, libc.so.1.2.3.4, a1.2.3.4, 1.2.3.4a',
  'version 1.2.3.4, Version: 1.2.3.4, Chrome/120.0.0.0, section-6.2.2.1, Section 6.2.2.1',
]

const IPV6: Case[] = [
  ['2001:0db8:85a3:0000:0000:8a2e:0370:7334', ['2001:0db8:85a3:0000:0000:8a2e:0370:7334']],
  ['1:2:3:4:5:6:7:8', ['1:2:3:4:5:6:7:8']],
  ['::1, fe80::1%eth0, dead:beef::cafe.', ['::1', 'fe80::1%eth0', 'dead:beef::cafe']],
  ['::ffff:192.0.2.1. 64:ff9b::192.0.2.33', ['::ffff:192.0.2.1', '64:ff9b::192.0.2.33']],
  ['[2001:db8::1]:443 2001:db8::/32', ['2001:db8::1', '2001:db8::']],
  ['[IPv6:2001:db8::1] addr:2001:db8::1: up', ['2001:db8::1', '2001:db8::1']],
  ['fe80::1%eth0-fe80::2%eth0', ['fe80::1%eth0', 'fe80::2%eth0']],
  ['fe80::1%1:2001::1', ['fe80::1', '1:2001::1']],
  ['FE80::1, fc00::, ff02::1', ['FE80::1', 'fc00::', 'ff02::1']],
]

const NO_IPV6 = [
  'std::string, a::b, abc::def, Foo::Bar::baz, std::vec::Vec::<u8>::new, f32::MAX, face::cafe',
  ':: alone, a :: b, x[::2], x[1::2], ::before, key::',
  '12:30:45, 2024-01-15T12:30:45.000Z, 12:30, 1:2:3',
  '00:1a:2b:3c:4d:5e, 00:11:22:33:44:55:66:77',
  'SHA256:9f:86:d0:81:88:4c:7d:65:9a:2f:ea:a0:c5:5a:d0:15',
  '1:2:3:4:5:6:7:8:9, 2001:db8::1::2, 12345::1, :beef:',
]

describe('findIpv4Addresses', () => testDetector(findIpv4Addresses, IPV4, NO_IPV4))

describe('findIpv6Addresses', () => testDetector(findIpv6Addresses, IPV6, NO_IPV6))

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

describe('findPaymentCards', () => {
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

  test.each(Object.entries(CARDS))('finds a number of type %s', (_, card) => {
    expect(findTexts(findPaymentCards, `Card ${card}.`)).toEqual([card])
  })
  testDetector(findPaymentCards, GROUPED, NONE)

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

const VALID: Case[] = [
  ['123-45-6789', ['123-45-6789']],
  ['(123 45 6789),', ['123 45 6789']],
  ['123‑45‑6789', ['123‑45‑6789']],
  ['SSN: 123456789', ['123456789']],
  ['user_ssn=123456789', ['123456789']],
  ['Her social security number is 123456789.', ['123456789']],
  ['123456789 (SSN)', ['123456789']],
  ['SSN 7 123 45 6789', ['123 45 6789']],
  ['123-45-6789 123-45-6780', ['123-45-6789', '123-45-6780']],
]

describe('findSocialSecurityNumbers', () => {
  const NONE = [
    '000-12-3456, 666-12-3456, 900-12-3456',
    '123-00-6789, 123-45-0000',
    '123-45 6789, 123 45-6789, 123.45.6789',
    '1123-45-6789, 123-45-67890, a123-45-6789, 123-45-6789-1, 1-123-45-6789',
    '123456789',
    'assn 123456789',
    `SSN${' '.repeat(60)}123456789`,
    // The keyword is beyond masked text.
    `SSN ${MASK} 123456789`,
    '100 123 45 6789 200',
    'SSN 000123456',
  ]

  testDetector(findSocialSecurityNumbers, VALID, NONE)
})
