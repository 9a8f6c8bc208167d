import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import fc from 'fast-check'
import { describe, expect, inject, it, test } from 'vitest'
import { parse } from 'yaml'
import run from '../../../agents/redact-pii/agent.ts'
import type { EntityType } from '../../../agents/redact-pii/entity.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { realTexts } from '../../support/data/real-texts.ts'
import { findInvalidOffsets, redactWith, SIMPLE_EMAIL_PATTERNS } from './redaction.ts'

describe('redact-pii', () => {
  const TEXT = `Anna <anna@example.org>, +44 20 7946 0958, card 4111 1111 1111 1111,
IBAN DE89 3704 0044 0532 0130 00, SSN 123-45-6789, from 192.0.2.1:80 and [2001:db8::1]:80.`

  const REDACTED = `Anna <[EMAIL_ADDRESS]>, [PHONE_NUMBER], card [PAYMENT_CARD],
IBAN [IBAN], SSN [US_SSN], from [IPV4_ADDRESS]:80 and [[IPV6_ADDRESS]]:80.`

  describe('run', () => {
    it('replaces each type of entity and keeps the rest of the text', () => {
      expect(run({ content: TEXT }).redactedContent).toBe(REDACTED)
    })

    it('returns offsets in UTF-16 code units, without the original text', () => {
      const content = '😀 anna@example.org, 192.0.2.1'
      expect(run({ content }).entities).toEqual([
        { type: 'EMAIL_ADDRESS', start: 3, end: 19, replacement: '[EMAIL_ADDRESS]' },
        { type: 'IPV4_ADDRESS', start: 21, end: 30, replacement: '[IPV4_ADDRESS]' },
      ])
      expect(content.slice(3, 19)).toBe('anna@example.org')
    })

    it('assigns overlapping matches to the more specific type', () => {
      const typesOf = (content: string) => run({ content }).entities.map(({ type }) => type)
      expect(typesOf('1.2.3.4@example.org')).toEqual(['EMAIL_ADDRESS'])
      expect(typesOf('::ffff:192.0.2.1')).toEqual(['IPV6_ADDRESS'])
      expect(typesOf('+4415-555-2671@example.org')).toEqual(['EMAIL_ADDRESS'])
      expect(typesOf('GB29 NWBK 6016 1331 9268 19')).toEqual(['IBAN'])
    })

    it.each(['', 'Nothing to see here.', '\u0000\ud800', '[US_SSN] 123456789 [PHONE_NUMBER] 4155552671'])(
      'keeps a text without personal data, also with placeholders, which are no keywords: %j',
      (content) => expect(run({ content })).toEqual({ redactedContent: content, entities: [] }),
    )

    test.each([[undefined], [null], [42], [['a@b.co']], [{}]])(
      'throws a TypeError for the content %j, and without an input',
      (content) => {
        expect(() => run({ content } as never)).toThrow(/^"content" must be a string\. Received /)
        expect(() => run({ content } as never)).toThrow(TypeError)
        expect(() => run(undefined as never)).toThrow(TypeError)
      },
    )

    // In quadratic time, this takes minutes. The night measures how the time grows.
    it.each(['a', 'a@b.', '"@', '1-', '0011', ':', 'DE89', '[US_SSN', ' '])(
      'ends soon on half a million characters of %j',
      (unit) => {
        const content = unit.repeat(500_000 / unit.length)
        expect(run({ content }).redactedContent.length).toBeGreaterThan(0)
      },
    )
  })

  describe('agent.md', () => {
    const [, frontMatter = ''] = readFileSync('agents/redact-pii/agent.md', 'utf8').split(/^---$/m)
    const { input, output, code } = parse(frontMatter)

    it('declares the input and output of run', () => {
      const result = run({ content: TEXT })
      expect(code).toBe(true)
      expect(Object.keys(input)).toEqual(['content'])
      expect(Object.keys(output)).toEqual(Object.keys(result))
      expect(Object.keys(output.entities.items.properties).sort()).toEqual(
        Object.keys(result.entities[0] ?? {}).sort(),
      )
    })

    it('lists every entity type', () => {
      const types = new Set(run({ content: TEXT }).entities.map(({ type }) => type))
      expect(new Set(output.entities.items.properties.type.enum)).toEqual(types)
    })
  })

  const countDigits = (found: string) => found.replace(/[^0-9]/g, '').length

  /** A plausibility check for each type, independent of the detectors. */
  const IS_PLAUSIBLE: Record<EntityType, (found: string) => boolean> = {
    EMAIL_ADDRESS: (found) => /^\S+@\S+\.\S*\p{L}\S*$/u.test(found),
    PHONE_NUMBER: (found) => /^[+(0-9]/.test(found) && countDigits(found) >= 7 && countDigits(found) <= 22,
    PAYMENT_CARD: (found) => countDigits(found) >= 13 && countDigits(found) <= 19,
    IBAN: (found) => /^[A-Z]{2}[0-9]{2}/i.test(found) && found.length >= 15,
    US_SSN: (found) => countDigits(found) === 9,
    IPV4_ADDRESS: (found) => isIP(found) === 4,
    IPV6_ADDRESS: (found) => isIP(found) === 6,
  }

  const texts = realTexts()

  describe('run on licenses and readmes of the dependencies', () => {
    test.each(inject('isNightly') ? texts : texts.slice(0, 10))('redacts $path', ({ content }) => {
      expect(texts).toHaveLength(50)
      const result = run({ content })
      expect(result.entities.some(({ type }) => type === 'EMAIL_ADDRESS')).toBe(true)
      for (const find of SIMPLE_EMAIL_PATTERNS) expect(find(result.redactedContent)).toEqual([])
      expect(result.redactedContent).toBe(redactWith(content, result))
      expect(findInvalidOffsets(content, result)).toEqual([])
      const implausible = result.entities.filter(
        ({ type, start, end }) => !IS_PLAUSIBLE[type](content.slice(start, end)),
      )
      expect(implausible).toEqual([])
    })
  })
})

const ENTITIES = [
  'anna@example.org',
  'a@b.com@c.com',
  '+44 20 7946 0958',
  '(415) 555-2671 x12',
  '415 555 2671',
  '4155552671',
  '4111 1111 1111 1111',
  'DE89 3704 0044 0532 0130 00',
  'gb29nwbk60161331926819',
  '123-45-6789',
  '123 45 6789',
  '123456789',
  '192.0.2.1',
  'fe80::1%eth0',
  '::ffff:192.0.2.1',
]

/** Text that affects matches next to it: separators, keywords, brackets, whole and partial placeholders. */
const CONTEXT = [
  ...' .,:;@-+()[]%/="\'\n1a0x漢\u0000',
  '\ud83d',
  'SSN ',
  'phone ',
  'ext. 5',
  '[US_SSN]',
  '[EMAIL_',
]

const unicode = fc.string({ unit: 'binary' })
const loneSurrogates = fc
  .array(fc.integer({ min: 0, max: 0xffff }))
  .map((units) => String.fromCharCode(...units))
const spliced = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...ENTITIES) },
      { weight: 4, arbitrary: fc.constantFrom(...CONTEXT) },
      { weight: 1, arbitrary: unicode },
      { weight: 1, arbitrary: loneSurrogates },
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(''))
const text = fc.oneof(
  { weight: 1, arbitrary: unicode },
  { weight: 1, arbitrary: loneSurrogates },
  { weight: 8, arbitrary: spliced },
)

describe('run on any text', () => {
  it('changes nothing but the entities, whose offsets are sorted, and leaves none', () => {
    const check = (content: string) => {
      const result = run({ content })
      const { redactedContent } = result
      expect(redactedContent).toBe(redactWith(content, result))
      expect(findInvalidOffsets(content, result)).toEqual([])
      expect(run({ content: redactedContent })).toEqual({ redactedContent, entities: [] })
      for (const find of SIMPLE_EMAIL_PATTERNS) expect(find(redactedContent)).toEqual([])
    }
    fc.assert(fc.property(text, check), { numRuns: propertyRuns(5_000) })
  })

  it('finds an entity of each type between arbitrary texts', () => {
    const plain = fc.string({ unit: 'grapheme' }).map((around) => around.replace(/[@0-9]/g, ''))
    fc.assert(
      fc.property(
        plain,
        fc.constantFrom(
          'anna@example.org',
          '+44 20 7946 0958',
          '4111 1111 1111 1111',
          '192.0.2.1',
          '123-45-6789',
          'fe80::1',
          'NL91ABNA0417164300',
        ),
        plain,
        (before, entity, after) => {
          const content = `${before} ${entity} ${after}`
          const { entities } = run({ content })
          expect(entities.map(({ start, end }) => content.slice(start, end))).toContain(entity)
        },
      ),
      { numRuns: propertyRuns(2_000) },
    )
  })
})
