import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import run from '../../../agents/redact-pii/agent.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { findInvalidOffsets, redactWith, SIMPLE_EMAIL_PATTERNS } from './redaction.ts'

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
  ...' .,:;@-+()[]%/="\'\n1a0x',
  'SSN ',
  'phone ',
  'ext. 5',
  '[US_SSN]',
  '[EMAIL_',
  '漢',
  '\ud83d',
  '\u0000',
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
