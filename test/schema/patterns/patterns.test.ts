import fc from 'fast-check'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { checkDeclaredSchema } from '../../../lib/schema/check-declared-schema.ts'
import { compilePattern, isSimplePattern } from '../../../lib/schema/patterns/compile-pattern.ts'
import { loadPatternEngine, loadPatterns } from '../../../lib/schema/patterns/load-pattern-engine.ts'
import { listPatterns } from '../../../lib/schema/patterns/schema-patterns.ts'
import { compileStrictValidator, compileValidator } from '../../../lib/schema/validate/validate.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { object } from '../validate/violation-cases.ts'
import { REDOS_CORPUS } from './redos-corpus.ts'

describe('compilePattern', () => {
  beforeAll(loadPatternEngine)

  const ATOMS = [
    ...String.raw`a b - é 😀 . ^ $ \b \d \D \w \W \s \S \n \. \/ \$`.split(' '),
    ...String.raw`\u00e9 \u{1F600} \x41 \cA \0 \p{L} \P{L} \p{Lu} \p{Script=Greek}`.split(' '),
    ...String.raw`[a-c] [^a-c] [\s\S] [^\s] [\w.-] [[] [\]a] [^] [a&&b] [-a] [\b] []`.split(' '),
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
  const simple = [
    'foo',
    '\\.json$',
    '^x-',
    '^[a-z0-9-]+$',
    '^\\d{4}-\\d{2}-\\d{2}$',
    '^[A-Z]{2}$',
    '^.{1,64}$',
  ]
  it.each(['', '^', '$', ...simple, '^[^@]+@', '^\\p{L}*$', '^[a-z]?\\d{3}$'])('accepts %s', (pattern) =>
    expect(isSimplePattern(pattern)).toBe(true),
  )

  const repeated = ['a+', '\\s+$', '^a*b*$', '^(a+)+$', '^a{0,2000}$', '^a*a{65}$']
  const others = ['^a|b$', '^(?:a)$', '(?=a)', '\\ba', '^a$b', '^\\1', '\\k<n>']
  it.each([...repeated, ...others])('does not accept %s', (pattern) =>
    expect(isSimplePattern(pattern)).toBe(false),
  )
})

describe('schemaPatterns', () => {
  const SLUG = '^[a-z]+(-[a-z]+)*$'
  const messagesOf = (schema: JsonObject, value: JsonObject) =>
    compileStrictValidator(schema)(value).map(({ message }) => message)

  const schema = object(
    {
      slug: { type: 'string', pattern: SLUG, maxLength: 10 },
      pattern: { type: 'string' },
      email: { type: 'string', format: 'email', pattern: '@(a|b)\\.example$' },
      list: { type: 'array', items: { $ref: '#/$defs/slug' } },
      data: { enum: [{ pattern: '(' }] },
    },
    { $defs: { slug: { pattern: SLUG } }, patternProperties: { '^x-': { pattern: '(a|b)+$' } } },
  )

  beforeAll(() => loadPatterns(schema))

  it('lists patterns, but neither fields nor values with their names', () => {
    expect(listPatterns(schema).map(({ path }) => path.join('.'))).toEqual([
      'patternProperties.^x-',
      'properties.slug.pattern',
      'properties.email.pattern',
      '$defs.slug.pattern',
      'patternProperties.^x-.pattern',
    ])
  })

  describe('compileStrictValidator, patterns', () => {
    it('reports a pattern like the validator', () => {
      expect(messagesOf(schema, { slug: 'a-b', list: ['c'], 'x-a': 'ab' })).toEqual([])
      expect(messagesOf(schema, { slug: 'A-', list: ['-'], 'x-a': 'c' })).toEqual([
        `/slug must match the pattern ${SLUG}.`,
        `/list/0 must match the pattern ${SLUG}.`,
        '/x-a must match the pattern (a|b)+$.',
      ])
    })

    it('reports a format next to a pattern', () => {
      expect(messagesOf(schema, { email: 'me@a.example' })).toEqual([])
      expect(messagesOf(schema, { email: 'me@c.example' })).toEqual([
        '/email must match the pattern @(a|b)\\.example$.',
      ])
      expect(messagesOf(schema, { email: '@a.example' })).toEqual(['/email must be an email address.'])
    })

    it.each([
      ['a look-ahead', object({ a: { type: 'string', pattern: '^(?=a).*$' } })],
      ['a complex key', object({}, { patternProperties: { '^(a+)+$': { type: 'string' } } })],
    ])('does not compile a schema that has %s', async (_, unsupported) => {
      await loadPatterns(unsupported)
      for (const compile of [compileStrictValidator, compileValidator, compileAdapter])
        expect(() => compile(unsupported)).toThrow('Unsupported pattern')
    })
  })

  describe('checkDeclaredSchema, patterns', () => {
    const text = (pattern: string) => ({ type: 'string', pattern })
    const unsupported = 'is not supported: RE2'
    it.each<[string, JsonObject, string]>([
      ['properties.a.pattern', object({ a: text('^(?=a)b') }), unsupported],
      ['properties.a.pattern', object({ a: text('(a)\\1') }), unsupported],
      ['properties.patternProperties.pattern', object({ patternProperties: text('(?=a)b') }), unsupported],
      [
        'properties.list.items.pattern',
        object({ list: { type: 'array', items: text('(?<!a)b') } }),
        unsupported,
      ],
      // Once, also for a field that has a default.
      ['a.pattern', { a: { ...text('(?=a)b'), default: 'b' } }, unsupported],
      [
        'patternProperties.^(a+)+$',
        object({}, { patternProperties: { '^(a+)+$': true } }),
        'may take more than linear time',
      ],
    ])('rejects %s', (path, declared, message) => {
      expect(checkDeclaredSchema(declared)).toEqual([
        { path: path.split('.'), message: expect.stringContaining(message) },
      ])
    })

    it('accepts patterns that take a backtracking engine exponential time', () => {
      expect(checkDeclaredSchema(object({ a: { type: 'string', pattern: '^(a+)+$' } }))).toEqual([])
    })
  })
})
