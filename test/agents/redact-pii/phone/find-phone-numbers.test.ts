import { describe, expect, it, test } from 'vitest'
import { createPhoneNumberDetector } from '../../../../agents/redact-pii/phone/find-phone-numbers.ts'
import { type Case, findTexts } from '../redaction.ts'

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

describe('createPhoneNumberDetector', () => {
  test.each([...INTERNATIONAL, ...US])('finds exactly %j', (number) => {
    expect(findTexts(createPhoneNumberDetector(), `Ring ${number}, please`)).toEqual([number])
    expect(findTexts(createPhoneNumberDetector(), number)).toEqual([number])
  })
  test.each(IN_CONTEXT)('finds the numbers in %j', (text, found) => {
    expect(findTexts(createPhoneNumberDetector(), text)).toEqual(found)
  })
  test.each(NONE)('finds nothing in %j', (text) => {
    expect(findTexts(createPhoneNumberDetector(), text)).toEqual([])
  })

  it('finds every one of 2,000 numbers', () => {
    const numbers = Array.from({ length: 2000 }, (_, index) => `415-555-${1000 + index}`)
    expect(
      findTexts(createPhoneNumberDetector(), `${'2015-12-31 '.repeat(2000)}${numbers.join(', ')}`),
    ).toEqual(numbers)
  })
})
