import { type Schema, validate } from '@cfworker/json-schema'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { compileValidator } from '../../../lib/schema/validate/validate.ts'
import { countReads } from '../../support/data/count-reads.ts'
import { propertyRuns } from '../../support/data/property-runs.ts'

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
    expect(
      compileValidator(SCHEMA)({
        list: [1, 1],
        nested: [
          [
            { a: 1, b: 2 },
            { b: 2, a: 1 },
          ],
        ],
      }),
    ).toEqual([
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
