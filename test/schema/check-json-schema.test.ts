import { describe, expect, it } from 'vitest'
import { documentSchema } from '../../lib/agents/document/document.ts'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { checkDeclaredSchema } from '../../lib/schema/check-declared-schema.ts'
import { findSchemaWarnings, withNullableTypes } from '../../lib/schema/openapi.ts'
import { compileValidator } from '../../lib/schema/validate/validate.ts'

const properties = { a: { type: 'string' }, b: { type: 'number' } }
const object = (keywords: object): JsonObject => ({ type: 'object', properties, ...keywords }) as JsonObject
const field = (schema: object, keywords: object = {}) => object({ properties: { a: schema }, ...keywords })
const problemsOf = (schema: JsonObject) =>
  checkDeclaredSchema(schema).map(({ path, message }) => `${path.join('.')}: ${message}`)

describe('a JSON Schema that is published', () => {
  const ODD_NAME = 'a/b~c %'
  const word = { $anchor: 'word', type: 'string' }
  const pair = [{ type: 'string' }, { type: 'number' }]
  /** What it accepts in runs, and what it does not. */
  const accepted: [string, JsonObject, object[], object[]][] = [
    [
      'then with required',
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      object({ if: { required: ['a'] }, then: { required: ['b'] } }),
      [{ a: '', b: 1 }, {}],
      [{ a: '' }],
    ],
    ['anyOf with required', object({ anyOf: [{ required: ['a'] }, { required: ['b'] }] }), [{ b: 1 }], [{}]],
    ['not with required', object({ not: { required: ['a'] } }), [{}], [{ a: '' }]],
    ['dependentRequired', object({ dependentRequired: { a: ['c'] } }), [{ a: '', c: 1 }], [{ a: '' }]],
    [
      'a reference beside the type of the root',
      { type: 'object', $ref: '#/$defs/x', $defs: { x: object({}) } },
      [{ b: 1 }],
      [{ b: '' }],
    ],
    [
      'annotations of OpenAPI',
      object({ discriminator: { propertyName: 'a' }, example: { a: 'x' }, xml: {}, externalDocs: {} }),
      [{}],
      [],
    ],
    [
      'names with escapes',
      object({ properties: { [ODD_NAME]: { type: 'string', default: 'x' } } }),
      [{}],
      [{ [ODD_NAME]: 1 }],
    ],
    [
      'a default that its reference allows',
      field({ $ref: '#/$defs/x', default: 'y' }, { $defs: { x: { enum: ['y'] } } }),
      [{ a: 'y' }],
      [{ a: 'z' }],
    ],
    ['an anchor', field({ $ref: '#word' }, { $defs: { word } }), [{ a: 'x' }], [{ a: 1 }]],
    [
      'prefixItems without bounds',
      field({ type: 'array', prefixItems: pair }),
      [{ a: ['x'] }, { a: ['x', 1, 2] }],
      [{ a: [1] }],
    ],
    ['a recursive schema', field({ $ref: '#' }), [{ a: { a: {} } }], [{ a: 1 }]],
    ['a list of itself', field({ type: 'array', items: { $ref: '#' } }), [{ a: [{}] }], [{ a: [1] }]],
    ['choices of several types', field({ enum: ['x', 1, null] }), [{ a: null }], [{ a: 2 }]],
    [
      'annotations of others',
      field({ type: 'string', 'x-order': 1, $comment: '', deprecated: true, examples: ['x'] }),
      [{ a: 'x' }],
      [{ a: 1 }],
    ],
    ...['idn-email', 'idn-hostname', 'iri', 'iri-reference', 'int32', 'password', 'phone'].map(
      (format): (typeof accepted)[number] => [
        `the format ${format}`,
        field({ type: ['string', 'integer'], format }),
        [{ a: 'x' }],
        [{ a: null }],
      ],
    ),
  ]
  it.each(accepted)('may have %s', (_, schema, matching, others) => {
    expect(problemsOf(schema)).toEqual([])
    const validate = compileValidator(schema)
    for (const value of matching) expect(validate(value), JSON.stringify(value)).toEqual([])
    for (const value of others) expect(validate(value), JSON.stringify(value)).not.toEqual([])
  })

  const text = { type: 'string' }
  const deep = { type: 'object', properties: { c: { type: 'boolean', default: 'no' } } }
  const circle = { x: { $ref: '#/$defs/y' }, y: { $ref: '#/$defs/x' } }
  const mismatch = (at: string, value: string, must: string) =>
    `${at}: ${value} does not match the schema beside it: must ${must}`
  const rejected: [string, JsonObject, string][] = [
    [
      'unknown keywords',
      field({ ...text, minLenght: 1 }),
      'a.minLenght: invalid JSON Schema (2020-12): unknown keyword: "minLenght"',
    ],
    [
      'a keyword without its type',
      field({ minLength: 1 }),
      'a: invalid JSON Schema (2020-12): missing type "string" for keyword "minLength" at "#/properties/a" (strictTypes)',
    ],
    ['a default of another type', field({ ...text, default: 7 }), mismatch('a.default', '7', 'be string')],
    [
      'a default beyond the bounds',
      field({ type: 'integer', default: 11, maximum: 10 }),
      mismatch('a.default', '11', 'be <= 10'),
    ],
    [
      'a default that is no choice',
      field({ ...text, enum: ['x'], default: 'y' }),
      mismatch('a.default', '"y"', 'be equal to one of the allowed values'),
    ],
    [
      'an example of another type',
      field({ ...text, examples: ['x', 7] }),
      mismatch('a.examples.1', '7', 'be string'),
    ],
    [
      'a choice of another type',
      field({ ...text, enum: ['x', null] }),
      mismatch('a.enum.1', 'null', 'be string'),
    ],
    [
      'an example of the whole that lacks a field',
      object({ required: ['a'], example: { b: 1 } }),
      mismatch('example', '{"b":1}', "have required property 'a'"),
    ],
    [
      'a default deep inside',
      field({ type: 'array', items: deep }),
      mismatch('a.items.properties.c.default', '"no"', 'be boolean'),
    ],
    [
      'a reference to nothing',
      field({ $ref: '#/$defs/b' }),
      'a.$ref: names nothing in the schema: #/$defs/b',
    ],
    ['an anchor that does not exist', field({ $ref: '#b' }), 'a.$ref: names nothing in the schema: #b'],
    [
      'a circle of references',
      field({ $ref: '#/$defs/x' }, { $defs: circle }),
      '$defs.x.$ref: is circular: #/$defs/y → #/$defs/x → #/$defs/y',
    ],
    [
      'a circle through alternatives',
      object({ anyOf: [{ $ref: '#' }, { required: ['a'] }] }),
      'anyOf.0.$ref: is circular: # → #',
    ],
    ['a root that is itself', { type: 'object', $ref: '#' }, '$ref: is circular: # → #'],
  ]
  it.each(rejected)('may not have %s, and is told the place', (_, schema, problem) => {
    expect(problemsOf(schema)).toEqual([problem.replace(/^a\b/, 'properties.a')])
  })

  it.each([
    ['with', { $schema: 'https://json-schema.org/draft/2020-12/schema' }],
    ['without', {}],
  ])('may not be only a reference, %s $schema', (_, keywords) => {
    const input = { $ref: '#/$defs/x', $defs: { x: object({}) }, ...keywords }
    const { error } = documentSchema.safeParse({ title: 'A', input, output: {} })
    expect(error?.issues.map(({ path, message }) => [path.join('.'), message])).toEqual([
      ['input.$ref', expect.stringContaining('write `type: object` beside it')],
    ])
  })
})

describe('nullable', () => {
  const input = field({ type: 'string', nullable: true })

  it('adds null to the type of what is published, and only to that', () => {
    const schema = documentSchema.parse({ title: 'A', input, output: {} }).input
    expect(compileValidator(schema)({ a: null })).toEqual([])
    expect(compileValidator(schema)({ a: 1 })).not.toEqual([])
    for (const other of [
      { nullable: true },
      { nullable: false, type: 'string' },
      { type: ['string', 'null'], nullable: true },
    ])
      expect(withNullableTypes(field(other))).toEqual(field(other))
    // A field map has no such keyword, but may have a field of that name.
    const fields = { nullable: { type: 'boolean' } }
    expect(withNullableTypes(fields)).toBe(fields)
  })

  it('is a hint, and so are unknown formats', () => {
    const warningsOf = (schema: object) =>
      findSchemaWarnings({ inputSchema: field(schema), outputSchema: {} })
    expect(warningsOf({ type: 'string', nullable: true })).toEqual([
      'input.properties.a: nullable is a keyword of OpenAPI 3.0; in JSON Schema, write "null" as one of the types.',
    ])
    expect(warningsOf({ nullable: true })).toEqual([
      expect.stringContaining('Without a type, it has no effect.'),
    ])
    expect(warningsOf({ type: 'string', nullable: true, enum: ['x'] })).toEqual([
      expect.any(String),
      'input.properties.a: null is no value of the enum, so it is not accepted. Add it to the enum.',
    ])
    expect(warningsOf({ type: 'string', format: 'phone' })).toEqual([
      'input.properties.a: the format "phone" is unknown, so it is not checked. Use a pattern to check it.',
    ])
    expect(warningsOf({ type: 'string', format: 'idn-email' })).toEqual([])
  })
})
