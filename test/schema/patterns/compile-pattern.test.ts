import fc from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { compilePattern, isSimplePattern } from '../../../lib/schema/patterns/compile-pattern.ts'
import { loadPatternEngine } from '../../../lib/schema/patterns/load-pattern-engine.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { REDOS_CORPUS } from './redos-corpus.ts'

beforeAll(loadPatternEngine)

const ATOMS = [
  ...[
    'a',
    'b',
    '-',
    'é',
    '😀',
    '.',
    '^',
    '$',
    '\\b',
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '\\n',
    '\\.',
    '\\/',
    '\\$',
  ],
  ...['\\u00e9', '\\u{1F600}', '\\x41', '\\cA', '\\0', '\\p{L}', '\\P{L}', '\\p{Lu}', '\\p{Script=Greek}'],
  ...[
    '[a-c]',
    '[^a-c]',
    '[\\s\\S]',
    '[^\\s]',
    '[\\w.-]',
    '[[]',
    '[\\]a]',
    '[^]',
    '[a&&b]',
    '[-a]',
    '[\\b]',
    '[]',
  ],
]

const patterns = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...ATOMS),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '*?', '{2,}'))
      .map(([a, q]) => `(${a})${q}`),
  ),
})).pattern

const CHARACTERS = [...'abcA-.1_ \n\r\u2028\u00a0\ufefféα[]/$&\b\u0001\u0000', '😀']
const texts = fc
  .array(fc.constantFrom(...CHARACTERS), { maxLength: 8 })
  .map((characters) => characters.join(''))

describe('compilePattern', () => {
  it('matches what the engine of JavaScript matches', () => {
    fc.assert(
      fc.property(patterns, fc.array(texts, { maxLength: 6 }), (pattern, samples) => {
        const expression = new RegExp(pattern, 'u')
        const matches = compilePattern(pattern)
        for (const text of samples) expect([text, matches?.(text)]).toEqual([text, expression.test(text)])
      }),
      { numRuns: propertyRuns(2_000), seed: 7 },
    )
  })

  it.each(REDOS_CORPUS)('matches what the engine of JavaScript matches: %s', (pattern, makeText) => {
    const expression = new RegExp(pattern, 'u')
    const matches = compilePattern(pattern)
    for (const text of ['', 'a', ...[1, 2, 5, 10, 20].map(makeText)])
      expect([text, matches?.(text)]).toEqual([text, expression.test(text)])
  })

  it.each(['(?=a)b', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', '(?:ab){1001}', '\\p{RGI_Emoji}+a+'])(
    'does not support %s',
    (pattern) => expect(compilePattern(pattern)).toBeUndefined(),
  )

  it('does not load the engine for simple patterns', async () => {
    vi.resetModules()
    const { compilePattern: compile } = await import('../../../lib/schema/patterns/compile-pattern.ts')
    expect(compile('^[a-z]+$')?.('abc')).toBe(true)
    expect(() => compile('^(a|b)+$')).toThrow('loadPatternEngine must be called')
  })
})

describe('isSimplePattern', () => {
  it.each([
    ...[
      '',
      '^',
      '$',
      'foo',
      '\\.json$',
      '^x-',
      '^[a-z0-9-]+$',
      '^\\d{4}-\\d{2}-\\d{2}$',
      '^[A-Z]{2}$',
      '^.{1,64}$',
    ],
    ...['^[^@]+@', '^\\p{L}*$', '^[a-z]?\\d{3}$'],
  ])('accepts %s', (pattern) => expect(isSimplePattern(pattern)).toBe(true))

  it.each([
    ...[
      'a+',
      '\\s+$',
      '^a*b*$',
      '^(a+)+$',
      '^a|b$',
      '^(?:a)$',
      '^a{0,2000}$',
      '^a*a{65}$',
      '(?=a)',
      '\\ba',
      '^a$b',
    ],
    ...['^\\1', '\\k<n>'],
  ])('does not accept %s', (pattern) => expect(isSimplePattern(pattern)).toBe(false))
})
