import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isJsonObject, type Json, type JsonObject } from '../../../lib/core/json/json.ts'
import { traitsOf } from '../../../lib/models/providers/providers.ts'
import type { StrictRules } from '../../../lib/models/requests/strict-parts.ts'
import { toStrictSchema } from '../../../lib/models/requests/strict-schema.ts'
import { toWireSchema } from '../../../lib/models/requests/wire-schema.ts'
import { toJsonSchema } from '../../../lib/schema/field-map.ts'

const CLAUDE = traitsOf('anthropic').strict as StrictRules
const OPENAI = traitsOf('openai').strict as StrictRules

// Creating a validator takes longer than compiling a schema.
const ajv = new Ajv2020({ strict: false, logger: false, validateFormats: false })
const validates = (schema: JsonObject, value: Json) => ajv.compile(schema)(value)
const pair = (schema: JsonObject, value: fc.Arbitrary<unknown>): Pair => ({
  schema,
  value: value as fc.Arbitrary<Json>,
})

const text = { type: 'string' }
const number = { type: 'number' }
const closed = (properties: JsonObject, required = Object.keys(properties)): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const strict = (schema: JsonObject, rules = CLAUDE) => toStrictSchema(toWireSchema(schema).schema, rules)
const fieldOf = (field: JsonObject, rules?: StrictRules) =>
  (strict(closed({ a: field }), rules).schema.properties as JsonObject).a

/** A schema and its values. */
type Pair = { schema: JsonObject; value: fc.Arbitrary<Json> }

const ALLOWED = new Set(
  'type description enum properties required items minItems anyOf additionalProperties'.split(' '),
)

/** What the documentation of a provider does not allow. */
function problemsOf(part: Json | undefined, { keywords, formats }: StrictRules, path = '#'): string[] {
  if (!isJsonObject(part)) return [`${path} is no schema`]
  const { type, properties, required, additionalProperties, items, anyOf } = part
  const fields = properties as JsonObject
  const problemsBelow = (below: Json | undefined, name: string) =>
    problemsOf(below, { keywords, formats }, `${path}/${name}`)
  const unknown = Object.keys(part).filter((keyword) => {
    if (keyword === 'format') return !formats.includes(String(part.format))
    return !ALLOWED.has(keyword) && !keywords.includes(keyword)
  })
  const problems = unknown.map((keyword) => `${path} has ${keyword}`)
  if (type === undefined && anyOf === undefined) problems.push(`${path} has no type`)
  if (type === 'object') {
    const names = Object.keys(fields)
    if (additionalProperties !== false) problems.push(`${path} is open`)
    if (names.some((name) => !(required as string[]).includes(name)))
      problems.push(`${path} has optional fields`)
    for (const [name, field] of Object.entries(fields)) problems.push(...problemsBelow(field, name))
  }
  if (type === 'array') problems.push(...problemsBelow(items, 'items'))
  for (const branch of (anyOf as Json[]) ?? []) problems.push(...problemsBelow(branch, 'anyOf'))
  return problems
}

describe('toStrictSchema', () => {
  it('leaves a schema that providers enforce as it is', () => {
    const schema = closed({
      a: { ...text, description: 'A.' },
      b: { type: 'array', items: closed({ c: { ...text, enum: ['x'] } }) },
    })
    expect(strict(schema).schema).toEqual(schema)
  })

  it.each<[string, JsonObject, JsonObject]>([
    [
      'bounds',
      { ...text, minLength: 1, maxLength: 5 },
      { ...text, description: '(minLength: 1; maxLength: 5)' },
    ],
    [
      'a pattern next to a description',
      { ...text, description: 'A code.', pattern: '^[A-Z]+$' },
      { ...text, description: 'A code. (pattern: ^[A-Z]+$)' },
    ],
    ['a format', { ...text, format: 'regex' }, { ...text, description: '(format: regex)' }],
    ['a format that is enforced', { ...text, format: 'date' }, { ...text, format: 'date' }],
    ['a default', { ...number, default: 3 }, { ...number, description: '(default: 3)' }],
    [
      'a number of items',
      { type: 'array', items: text, minItems: 1, maxItems: 3 },
      { type: 'array', items: text, minItems: 1, description: '(maxItems: 3)' },
    ],
  ])('describes %s', (_, field, expected) => {
    expect(fieldOf(field)).toEqual(expected)
  })

  it('keeps the bounds that a provider enforces', () => {
    const bounds = { type: 'integer', minimum: 1, maximum: 5 }
    expect(fieldOf(bounds, OPENAI)).toEqual(bounds)
    expect(fieldOf({ type: 'array', items: text, maxItems: 3 }, OPENAI)).toMatchObject({ maxItems: 3 })
    expect(fieldOf({ ...text, maxLength: 3 }, OPENAI)).toEqual({ ...text, description: '(maxLength: 3)' })
  })

  it('requires optional fields, which may be null, and drops the nulls', () => {
    const fields = {
      name: text,
      note: { ...text, required: false },
      kind: { ...text, enum: ['a', 'b'], required: false },
      size: { type: 'object', properties: { width: { type: 'number', required: false } }, required: false },
      count: { type: 'integer', default: 1 },
    }
    const { schema, encode, decode } = strict(toJsonSchema(fields as unknown as JsonObject))
    expect(schema).toMatchObject({
      required: ['name', 'note', 'kind', 'size', 'count'],
      properties: {
        note: { type: ['string', 'null'] },
        kind: { type: ['string', 'null'], enum: ['a', 'b', null] },
        size: { anyOf: [{ type: 'object', required: ['width'] }, { type: 'null' }] },
        count: { type: ['integer', 'null'], description: '(default: 1)' },
      },
    })
    expect(problemsOf(schema, CLAUDE)).toEqual([])
    const empty = { name: 'x', note: null, kind: null, size: null, count: null }
    const given = { name: 'x', note: 'n', kind: 'a', count: 2 }
    expect(decode({ ...empty, size: { width: null } })).toEqual({ name: 'x', size: {} })
    expect(decode({ ...given, size: null })).toEqual(given)
    expect(encode({ name: 'x' })).toEqual(empty)
  })

  it('keeps the null of a field that may be null, and of required ones', () => {
    const nullable = { type: ['string', 'null'] }
    const { decode } = strict(closed({ a: nullable, b: nullable, c: text }, ['a']))
    expect(decode({ a: null, b: null, c: null })).toEqual({ a: null, b: null })
  })

  it('does not confuse fields with members of every object', () => {
    const { encode, decode } = strict(closed({ toString: text, constructor: text }, []))
    expect(decode(encode({}))).toEqual({})
    expect(decode({ toString: 'x', constructor: null })).toEqual({ toString: 'x' })
  })

  it('resolves references, merges allOf, and turns oneOf into anyOf', () => {
    const { schema, encode, decode } = strict({
      type: 'object',
      properties: {
        at: { allOf: [{ $ref: '#/$defs/point' }, { $ref: '#/$defs/named' }], description: 'Where.' },
        shape: {
          oneOf: [
            { type: 'object', properties: { kind: { const: 'circle' }, r: number }, required: ['kind'] },
            { type: 'object', properties: { kind: { const: 'dot' }, r: text }, required: ['kind', 'r'] },
          ],
        },
      },
      required: ['at'],
      $defs: {
        point: { type: 'object', properties: { x: number, y: number }, required: ['x'] },
        named: { type: 'object', properties: { name: text } },
      },
    })
    expect(problemsOf(schema, CLAUDE)).toEqual([])
    expect(schema).toMatchObject({
      properties: {
        at: { description: 'Where.', required: ['x', 'y', 'name'] },
        shape: { anyOf: [{}, {}, { type: 'null' }] },
      },
    })
    expect(decode({ at: { x: 1, y: null, name: null }, shape: { kind: 'circle', r: null } })).toEqual({
      at: { x: 1 },
      shape: { kind: 'circle' },
    })
    for (const value of [{ at: { x: 1 } }, { at: { x: 1 }, shape: { kind: 'dot', r: 'x' } }]) {
      expect(validates(schema, encode(value))).toBe(true)
      expect(decode(encode(value))).toEqual(value)
    }
  })

  const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } }
  it.each<[string, JsonObject, Json]>([
    ['a map', { type: 'object', additionalProperties: number }, { a: 1, b: 2 }],
    ['an object of any form', { type: 'object' }, { any: ['thing'] }],
    ['a value of any type', {}, ['x', { y: null }]],
    ['an array of any items', { type: 'array' }, [1, 'x']],
    ['a tuple', { type: 'array', prefixItems: [text, number] }, ['x', 1]],
    ['patterns of keys', { type: 'object', patternProperties: { '^x': number } }, { x1: 1 }],
    ['values that are objects', { enum: [{ a: 1 }, { a: 2 }] }, { a: 1 }],
  ])('turns %s into a text that contains JSON', (_, field, value) => {
    const both = { a: { ...field, description: 'All.' }, b: field }
    const { schema, encode, decode } = strict(closed(both, ['a']))
    expect(problemsOf(schema, CLAUDE)).toEqual([])
    expect((schema.properties as JsonObject).a).toEqual({
      type: 'string',
      description: expect.stringMatching(/^All\. JSON text/),
    })
    expect(decode({ a: JSON.stringify(value), b: null })).toEqual({ a: value })
    expect(encode({ a: value })).toEqual({ a: JSON.stringify(value), b: null })
    expect(decode({ a: 'not JSON', b: null })).toEqual({ a: 'not JSON' })
    expect(decode({ a: value, b: null })).toEqual({ a: value })
  })

  it.each<[string, JsonObject, Json]>([
    ['a map at the root', { type: 'object', additionalProperties: number }, { a: 1 }],
    ['a recursive schema', { ...node, $defs: { node } }, { next: { next: {} } }],
    ['the root in itself', { type: 'object', properties: { a: { $ref: '#' } } }, { a: { a: {} } }],
    [
      'a schema of itself',
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/x' } },
        $defs: { x: { allOf: [{ $ref: '#/$defs/x' }] } },
      },
      { a: 1 },
    ],
    ['a reference to nothing', { type: 'object', properties: { a: { $ref: '#/$defs/none' } } }, { a: 1 }],
  ])('has an answer for %s', (_, declared, value) => {
    const { schema, encode, decode } = strict(declared)
    expect(problemsOf(schema, CLAUDE)).toEqual([])
    expect(validates(schema, encode(value))).toBe(true)
    expect(decode(encode(value))).toEqual(value)
  })

  it('stays small for schemas whose references multiply', () => {
    const level = (n: number) => {
      const next = { $ref: `#/$defs/l${n}` }
      return { type: 'object', properties: { a: next, b: next, c: next } }
    }
    const $defs = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`l${n}`, level(n + 1)]))
    const { schema } = strict({ ...level(0), $defs: { ...$defs, l9: text } })
    expect(JSON.stringify(schema).length).toBeLessThan(3_000_000)
    expect(problemsOf(schema, CLAUDE)).toEqual([])
  })

  it('lets optional fields be missing where null is not possible, and counts them', () => {
    const schema = closed({ a: text, b: text, c: { type: ['string', 'null'] } }, ['a'])
    expect(toStrictSchema(schema, CLAUDE).counts).toEqual({ unions: 2, optional: 0 })
    const kept = toStrictSchema(schema, CLAUDE, false)
    expect(kept.counts).toEqual({ unions: 1, optional: 2 })
    expect(kept.schema).toMatchObject({ required: ['a'], properties: { b: text } })
  })

  it('converts each value of any schema to one that matches, and back', () => {
    const keys = fc.constantFrom('a', 'b', 'c', 'toString')
    const { schema: anySchema } = fc.letrec<{ schema: Pair }>((tie) => ({
      schema: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(
          pair({ ...text, maxLength: 9 }, fc.string({ maxLength: 9 })),
          pair({ type: 'integer', minimum: 0 }, fc.nat()),
          pair({ enum: ['x', 'y', 1] }, fc.constantFrom('x', 'y', 1)),
          pair({}, fc.constantFrom([1], { z: null }, true)),
        ),
        tie('schema').map(({ schema, value }) =>
          pair({ type: 'array', items: schema }, fc.array(value, { maxLength: 3 })),
        ),
        fc.dictionary(keys, fc.tuple(tie('schema'), fc.boolean()), { minKeys: 1 }).map((fields) => {
          const entries = Object.entries(fields)
          const requiredKeys = entries.flatMap(([name, [, isRequired]]) => (isRequired ? [name] : []))
          const schemas = Object.fromEntries(entries.map(([name, [{ schema }]]) => [name, schema]))
          const values = Object.fromEntries(entries.map(([name, [{ value }]]) => [name, value]))
          return pair(
            closed(schemas, requiredKeys),
            fc.record(values, { requiredKeys, noNullPrototype: true }),
          )
        }),
      ),
    }))
    const pairs = anySchema.chain(({ schema, value }) => value.map((each) => ({ schema, value: each })))
    fc.assert(
      fc.property(pairs, fc.constantFrom(CLAUDE, OPENAI), ({ schema, value }, rules) => {
        const result = strict(closed({ root: schema }), rules)
        expect(problemsOf(result.schema, rules)).toEqual([])
        const encoded = result.encode({ root: value })
        expect(validates(result.schema, encoded)).toBe(true)
        expect(result.decode(encoded)).toEqual({ root: value })
      }),
      { numRuns: 300 },
    )
  })
})
