import { describe, expect, test } from 'vitest'
import { findSocialSecurityNumbers } from '../../../agents/redact-pii/find-social-security-numbers.ts'
import { MASK } from '../../../agents/redact-pii/mask.ts'
import { type Case, findTexts } from './find-texts.ts'

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

const NONE = [
  '000-12-3456, 666-12-3456, 900-12-3456',
  '123-00-6789, 123-45-0000',
  '123-45 6789, 123 45-6789, 123.45.6789',
  '1123-45-6789, 123-45-67890, a123-45-6789, 123-45-6789-1, 1-123-45-6789',
  '123456789',
  'assn 123456789',
  `SSN${' '.repeat(60)}123456789`,
  '100 123 45 6789 200',
  'SSN 000123456',
]

describe('findSocialSecurityNumbers', () => {
  test.each(VALID)('finds the numbers in %j', (text, found) => {
    expect(findTexts(findSocialSecurityNumbers, text)).toEqual(found)
  })
  test.each(NONE)('finds nothing in %j', (text) => {
    expect(findTexts(findSocialSecurityNumbers, text)).toEqual([])
  })
  test('ignores a keyword beyond masked text', () => {
    expect(findTexts(findSocialSecurityNumbers, `SSN ${MASK} 123456789`)).toEqual([])
  })
})
