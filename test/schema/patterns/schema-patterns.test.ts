import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { checkDeclaredSchema } from '../../../lib/schema/check-declared-schema.ts'
import { loadPatterns } from '../../../lib/schema/patterns/load-pattern-engine.ts'
import { listPatterns } from '../../../lib/schema/patterns/schema-patterns.ts'
import { compileStrictValidator, compileValidator } from '../../../lib/schema/validate/validate.ts'

const SLUG = '^[a-z]+(-[a-z]+)*$'
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
})
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

describe('listPatterns', () => {
  it('finds patterns, but neither fields nor values with their names', () => {
    expect(listPatterns(schema).map(({ path }) => path.join('.'))).toEqual([
      'patternProperties.^x-',
      'properties.slug.pattern',
      'properties.email.pattern',
      '$defs.slug.pattern',
      'patternProperties.^x-.pattern',
    ])
  })
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
  it.each([
    ['properties.a.pattern', object({ a: { type: 'string', pattern: '^(?=a)b' } }), 'is not supported: RE2'],
    ['properties.a.pattern', object({ a: { type: 'string', pattern: '(a)\\1' } }), 'is not supported: RE2'],
    [
      'properties.patternProperties.pattern',
      object({ patternProperties: { type: 'string', pattern: '(?=a)b' } }),
      'is not supported: RE2',
    ],
    [
      'patternProperties.^(a+)+$',
      object({}, { patternProperties: { '^(a+)+$': true } }),
      'may take more than linear time',
    ],
    [
      'properties.list.items.pattern',
      object({ list: { type: 'array', items: { type: 'string', pattern: '(?<!a)b' } } }),
      'is not supported: RE2',
    ],
  ])('rejects %s', (path, declared, message) => {
    expect(checkDeclaredSchema(declared)).toEqual([
      { path: path.split('.'), message: expect.stringContaining(message) },
    ])
  })

  it('reports an unsupported pattern of a field that has a default only once', () => {
    expect(checkDeclaredSchema({ a: { type: 'string', pattern: '(?=a)b', default: 'b' } })).toEqual([
      { path: ['a', 'pattern'], message: expect.stringContaining('is not supported: RE2') },
    ])
  })

  it('accepts patterns that take a backtracking engine exponential time', () => {
    expect(checkDeclaredSchema(object({ a: { type: 'string', pattern: '^(a+)+$' } }))).toEqual([])
  })
})
