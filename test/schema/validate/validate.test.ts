import { type Schema, validate } from '@cfworker/json-schema'
import fc from 'fast-check'
import { describe, expect, inject, it } from 'vitest'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { LINEAR_FORMATS } from '../../../lib/schema/validate/formats.ts'
import { compileStrictValidator, compileValidator } from '../../../lib/schema/validate/validate.ts'
import { countReads } from '../../support/data/count-reads.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'
import { anyInputs, wildSchemas } from '../random-schemas.ts'
import { openSchemas, strictGroups } from './strict-violation-cases.ts'
import { groups } from './violation-cases.ts'

const messagesOf = (violations: { message: string }[]) => violations.map(({ message }) => message)

describe.each(groups)('compileValidator: $title', ({ schema, cases }) => {
  it.each(cases)('reports for %j: %j', (value, messages) => {
    const violations = compileValidator(schema)(value)
    expect(messagesOf(violations).sort()).toEqual([...messages].sort())
    for (const { path, message } of violations)
      expect(message.startsWith(`${path || 'The value'} `)).toBe(true)
  })
})

describe.each(strictGroups)('compileStrictValidator: $title', ({ schema, cases }) => {
  it.each(cases)('reports for %j: %j', (value, messages) => {
    const before = JSON.stringify(schema)
    expect(messagesOf(compileStrictValidator(schema)(value))).toEqual(messages)
    expect(compileValidator(schema)(value)).toEqual([])
    expect(JSON.stringify(schema)).toBe(before)
  })
})

it.each(openSchemas)('compileStrictValidator allows undeclared fields with %s', (_, schema, value) => {
  expect(compileStrictValidator(schema)(value)).toEqual([])
})

describe('compileValidator, edge cases', () => {
  const list: JsonObject = { list: { type: 'array', items: { type: 'string' } } }

  it('reports at most 100 violations', () => {
    expect(compileValidator(list)({ list: Array.from({ length: 5_000 }, () => 1) })).toHaveLength(100)
  })

  // More than a function call takes as arguments.
  const MANY = inject('isNightly') ? 1_000_000 : 200_000
  it(`reports at least one of ${MANY} violations`, () => {
    const [first] = compileValidator(list)({ list: Array.from({ length: MANY }, () => 1) })
    expect(first?.message).toBe('/list/0 must be a string, not a number.')
  })

  it('truncates a long name', () => {
    const [violation] = compileValidator({})({ ['x'.repeat(100_000)]: 1 })
    expect(JSON.stringify(violation).length).toBeLessThan(500)
  })

  it('rejects a field name with an unpaired surrogate', () => {
    expect(messagesOf(compileValidator({})({ '\ud800': 1 }))).toEqual([
      'The value contains a field name with an unpaired surrogate.',
    ])
  })

  it('accepts field names such as __proto__', () => {
    const validate = compileValidator(JSON.parse('{"__proto__": {"type": "integer"}}'))
    expect(validate(JSON.parse('{"__proto__": 1}'))).toEqual([])
    expect(messagesOf(validate(JSON.parse('{"__proto__": "x", "constructor": 1}')))).toEqual([
      '/__proto__ must be an integer, not a string.',
      '/constructor is not defined in the schema.',
    ])
  })
})

describe('compileStrictValidator, for random schemas and inputs', () => {
  it('reports every invalid input that compileValidator reports, with its path', () => {
    fc.assert(
      fc.property(wildSchemas, anyInputs, (schema, input) => {
        fc.pre(!JSON.stringify(schema).includes('nowhere'))
        const found = compileValidator(schema)(input)
        const strictly = compileStrictValidator(schema)(input)
        if (found.length > 0) expect(strictly.length).toBeGreaterThan(0)
        for (const { path, message } of [...found, ...strictly])
          expect(message.startsWith(`${path || 'The value'} `)).toBe(true)
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })
})

describe('the format url', () => {
  it.each([
    ['https://example.com', true],
    ['http://user:pass@example.co.uk:8080/a?b#c', true],
    ['ftp://my-host.example', true],
    ['https://münchen.example/ä', true],
    ['http://93.184.216.34/', true],
    ['http://10.0.0.1/', false],
    ['http://localhost', false],
    ['http://a--b.example', false],
    ['http://-a.example', false],
    ['http://a-.example', false],
    ['example.com', false],
    ['http://a.example:1', false],
  ])('accepts %s: %s', (text, isValid) => expect(LINEAR_FORMATS.url?.(text)).toBe(isValid))
})

const unique = (items: JsonObject | true = true): JsonObject => ({ type: 'array', items, uniqueItems: true })

/** Every way to a subschema that simply applies, and one that does not. */
const SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    list: unique(),
    nested: unique(unique()),
    tuple: { type: 'array', prefixItems: [unique()], items: unique() },
    nullable: { anyOf: [unique(), { type: 'null' }] },
    all: { allOf: [unique(), { type: 'array' }] },
    tree: { $ref: '#/$defs/tree' },
  },
  additionalProperties: unique(),
  $defs: { tree: { type: 'array', items: { $ref: '#/$defs/tree' }, uniqueItems: true } },
}

const item = fc.constantFrom<unknown>(0, -0, 1, '1', null, [], [[]], { a: 1, b: [2] }, { b: [2], a: 1 })

const list = fc.array(fc.oneof(item, fc.array(item, { maxLength: 3 })), { maxLength: 4 })

const value = fc.dictionary(fc.constantFrom(...Object.keys(SCHEMA.properties ?? {}), 'other'), list)

describe('uniqueItems', () => {
  it.each([
    ['a schema whose parts all apply', SCHEMA],
    ['a schema with alternatives', { ...SCHEMA, anyOf: [{ properties: { list: unique() } }, true] }],
  ])('has the same result as in the validator: %s', (_, schema) => {
    const check = compileValidator(schema)
    const property = fc.property(value, (input) => {
      const { valid } = validate(input, structuredClone(schema) as Schema, '2020-12')
      expect(check(input).length === 0).toBe(valid)
    })
    fc.assert(property, { numRuns: propertyRuns(500) })
  })

  it('reports the path of each array with duplicate items', () => {
    const equal = [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ]
    expect(compileValidator(SCHEMA)({ list: [1, 1], nested: [equal] })).toEqual([
      { path: '/list', message: '/list must not contain duplicate items.' },
      { path: '/nested/0', message: '/nested/0 must not contain duplicate items.' },
    ])
  })

  it('reads each item a number of times that does not grow with their number', () => {
    const check = compileValidator(SCHEMA)
    const readsOf = (length: number) => {
      let reads = 0
      check(countReads({ list: Array.from({ length }, (_, index) => ({ index })) }, () => reads++))
      return reads
    }
    expect(readsOf(400)).toBeLessThanOrEqual(2.1 * readsOf(200))
  })
})

describe('a recursive schema with alternatives', () => {
  const check = compileValidator({
    type: 'object',
    properties: { tree: { $ref: '#/$defs/tree' } },
    $defs: {
      tree: {
        oneOf: ['add', 'multiply'].map((operator) => ({
          type: 'object',
          properties: { operator: { const: operator }, left: { $ref: '#/$defs/tree' } },
          required: ['operator'],
        })),
      },
    },
  })
  const treeOf = (depth: number): JsonObject =>
    depth === 0 ? { operator: 'add' } : { operator: 'multiply', left: treeOf(depth - 1) }

  it('is checked completely for a value of moderate depth', () => {
    expect(check({ tree: treeOf(8) })).toEqual([])
    expect(check({ tree: { operator: 'multiply', left: { operator: 'divide' } } })).not.toEqual([])
  })

  it('rejects a value that would take exponential time', () => {
    expect(check({ tree: treeOf(60) })).toEqual([
      { path: '', message: expect.stringContaining('too many combinations') },
    ])
  })
})
