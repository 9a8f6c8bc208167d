import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { findEmailAddresses } from '../../../../agents/redact-pii/email/find-email-addresses.ts'
import { maskSpans } from '../../../../agents/redact-pii/mask.ts'
import { propertyRuns } from '../../../support/data/property-runs.ts'
import { type Case, findTexts, SIMPLE_EMAIL_PATTERNS } from '../redaction.ts'

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

describe('findEmailAddresses', () => {
  test.each(VALID)('finds the addresses in %j', (text, found) => {
    expect(findTexts(findEmailAddresses, text)).toEqual(found)
  })
  test.each(IN_MARKUP)('excludes the markup in %j', (text, found) => {
    expect(findTexts(findEmailAddresses, text)).toEqual(found)
  })
  test.each(UNUSUAL)('finds the whole unusual address in %j', (text, found) => {
    expect(findTexts(findEmailAddresses, text)).toEqual(found)
  })
  test.each(NONE)('finds nothing in %j', (text) => {
    expect(findTexts(findEmailAddresses, text)).toEqual([])
  })

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
