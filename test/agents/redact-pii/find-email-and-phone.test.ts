import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { findEmailAddresses } from '../../../agents/redact-pii/email/find-email-addresses.ts'
import type { Detector } from '../../../agents/redact-pii/entity.ts'
import { maskSpans } from '../../../agents/redact-pii/mask.ts'
import { createPhoneNumberDetector } from '../../../agents/redact-pii/phone/find-phone-numbers.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { type Case, findTexts, SIMPLE_EMAIL_PATTERNS, testDetector } from './redaction.ts'

describe('findEmailAddresses', () => {
  const VALID: Case[] = [
    ['Write to anna@example.org.', ['anna@example.org']],
    ['<anna+news@mail.example.co.uk>, (bob_1@x-y.io)', ['anna+news@mail.example.co.uk', 'bob_1@x-y.io']],
    ['mailto:anna@example.org?subject=Hi', ['anna@example.org']],
    ['[anna@example.org](mailto:anna@example.org)', ['anna@example.org', 'anna@example.org']],
    ['"john doe"@example.org', ['"john doe"@example.org']],
    ["o'neil@example.ie, 'anna@example.org'", ["o'neil@example.ie", 'anna@example.org']],
    ['!#$%&+/?^_`|~@example.org', ['%&+/?^_`|~@example.org']],
    ['user!box@example.org a/b@example.org', ['user!box@example.org', 'a/b@example.org']],
    ['user@[192.0.2.1] user@[IPv6:2001:db8::1]', ['user@[192.0.2.1]', 'user@[IPv6:2001:db8::1]']],
    [
      'josé@exämple.de, 用户@例子.公司, иван@пример.рф',
      ['josé@exämple.de', '用户@例子.公司', 'иван@пример.рф'],
    ],
    ['请写信给anna@example.org谢谢', ['anna@example.org']],
    ['𝒶nna@example.org', ['𝒶nna@example.org']],
  ]

  const IN_MARKUP: Case[] = [
    ['{anna@example.org} *anna@example.org* |a@b.co|', ['anna@example.org', 'anna@example.org', 'a@b.co']],
    ['https://example.com/users/anna@example.org', ['anna@example.org']],
    ['https://x.com/?a=1&email=anna@example.org&b=2', ['anna@example.org']],
    ['email=anna@example.org --author=anna@example.org', ['anna@example.org', 'anna@example.org']],
    ['bounces+anna=example.org@lists.example.com', ['bounces+anna=example.org@lists.example.com']],
  ]

  const UNUSUAL: Case[] = [
    ['a@b.com@c.com', ['a@b.com@c.com']],
    ['a@b..com', ['a@b..com']],
    ['foo@bar.com2', ['foo@bar.com2']],
    ['x@y.co.uk.', ['x@y.co.uk']],
    ['.foo@bar.com', ['foo@bar.com']],
    ['..@bar.com', ['..@bar.com']],
    ['foo@.bar.com', ['foo@.bar.com']],
    ['foo@bar.com-', ['foo@bar.com']],
    ['a@b@c.com', ['b@c.com']],
    ['icon@2x.png', ['icon@2x.png']],
  ]

  const NONE = [
    'react@18.2.0 and pkg@1.0.0-beta.3, actions/checkout@v4.1.2',
    'https://medium.com/@john.doe',
    'anna@localhost, @handle, a @ b.com, @b.com',
    '"foo" + "@bar.com"',
    'user@192.168.1.1',
  ]

  testDetector(findEmailAddresses, [...VALID, ...IN_MARKUP, ...UNUSUAL], NONE)

  it('leaves no match of a simple email pattern in any text', () => {
    const piece = fc.constantFrom(
      ...'@@@@...a1-_+%/"[]=\' ü漢\ud800'.split(''),
      'com',
      'co.uk',
      '@b.c1',
      '2.0.0-rc',
      '\u{1d4b6}',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
        const text = pieces.join('')
        const rest = maskSpans(text, findEmailAddresses(text))
        for (const find of SIMPLE_EMAIL_PATTERNS) expect(find(rest)).toEqual([])
      }),
      { numRuns: propertyRuns(20_000) },
    )
  })
})

describe('findPhoneNumbers', () => {
  const INTERNATIONAL = [
    '+44 20 7946 0958',
    '+44 (0)20 7946 0958',
    '+442079460958',
    '(+44) 20 7946 0958',
    '0049 30 1234567',
    '0049301234567',
    '00 49 30 1234567',
    '011 44 20 7946 0958',
    '+1-415-555-2671',
    '+1 (415) 555-2671',
    '+1.415.555.2671',
    '+33 1 45 45 32 45',
    '+49 30 / 1234567',
    '+91 98765 43210',
    '+52 1 55 1234 5678',
    '+800 1234 5678',
    '＋81 3-1234-5678',
    '+44 7700 900123',
  ]

  const US = [
    '(415) 555-2671',
    '(415)555-2671',
    '415-555-2671',
    '415.555.2671',
    '415 555 2671',
    '1-800-555-0199',
    '1 (800) 555-0199',
    '(555) 123-4567',
    '415-555-2671 ext. 12',
    '(415) 555-2671 x1234',
    '415-555-2671x12',
    '+1 415 555 2671, extension 7',
  ]

  const IN_CONTEXT: Case[] = [
    ['Call +44 20 7946 0958 2015 was the year', ['+44 20 7946 0958']],
    ['+1 415 555 2671 +44 20 7946 0958', ['+1 415 555 2671', '+44 20 7946 0958']],
    ['(+1-415-555-2671)', ['+1-415-555-2671']],
    ['tel:+1-800-555-0199;ext=5.', ['+1-800-555-0199;ext=5']],
    ['phone: 4155552671', ['4155552671']],
    ['call me at 14155552671', ['14155552671']],
    ['+0 12 0049 30 1234567', ['0049 30 1234567']],
    ['tel_415-555-2671_x', ['415-555-2671']],
    ['phone 512 256 1024 2048', ['512 256 1024']],
    ['415 555 2671x 415 555 2672', ['415 555 2671', '415 555 2672']],
    ['415 555 2671x12, 415 555 2672', ['415 555 2671x12', '415 555 2672']],
  ]

  const NONE = [
    '2015-12-31, 31.12.2015, 2015-2016, 12/31/2015 10:30',
    '2024-01-15T10:30:00.123Z, 1705314600, 1705314600123',
    '1.2.3, 10.0.19041.1, v2.415.555.2671',
    'ISBN 978-0-306-40615-7, ISBN 0-415-555-2671',
    'order 4155552671, 415555267, id 0000123456789',
    '512 256 1024 2048',
    '123-456-7890, 415-155-2671',
    'a415-555-2671, 415-555-26710, 415-555-2671-1',
    'x+442079460958, +1234, +10, 1+1=2',
    '550e8400-e29b-41d4-a716-446655440000',
    'Chen Li. VLDB J. 12(3): 211-227 (2003)',
  ]

  /** A detector is for one text. */
  const detect: Detector = (text) => createPhoneNumberDetector()(text)

  test.each([...INTERNATIONAL, ...US])('finds exactly %j', (number) => {
    expect(findTexts(detect, `Ring ${number}, please`)).toEqual([number])
    expect(findTexts(detect, number)).toEqual([number])
  })

  testDetector(detect, IN_CONTEXT, NONE)

  it('finds every one of 2,000 numbers', () => {
    const numbers = Array.from({ length: 2000 }, (_, index) => `415-555-${1000 + index}`)
    expect(findTexts(detect, `${'2015-12-31 '.repeat(2000)}${numbers.join(', ')}`)).toEqual(numbers)
  })
})
