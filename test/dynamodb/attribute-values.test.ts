import { marshall } from '@aws-sdk/util-dynamodb'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromAttributes, toAttributes } from '../../lib/dynamodb/attribute-values.ts'
import type { Item } from '../../lib/dynamodb/expressions.ts'

const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number)),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.uint8Array(),
    fc.array(tie('value')),
    fc.dictionary(fc.string(), tie('value'), { noNullPrototype: true }),
  ),
}))
const items = fc.dictionary(fc.string(), values.value, { noNullPrototype: true }) as fc.Arbitrary<Item>

/** What the SDK makes of an item, with bytes as they are on the wire. */
const bySdk = (item: Item) => onTheWire(marshall(item, { removeUndefinedValues: true }))

function onTheWire(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(onTheWire)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, onTheWire(inner)]))
}

describe('toAttributes', () => {
  it('gives every item back through JSON', () => {
    fc.assert(
      fc.property(items, (item) => {
        expect(fromAttributes(JSON.parse(JSON.stringify(toAttributes(item))))).toEqual(item)
      }),
    )
  })

  it('says what the SDK says', () => {
    const item = {
      text: 'größer',
      empty: '',
      number: -1.5e-7,
      large: 9_007_199_254_740_991,
      yes: true,
      none: null,
      list: [1, 'a', { b: [] }, undefined],
      map: { a: { b: undefined, c: {} } },
      absent: undefined,
      bytes: new Uint8Array([0, 255, 7]),
      slice: Buffer.from('abcdef').subarray(2, 4),
    }
    expect(toAttributes(item)).toEqual(bySdk(item))
  })

  it('keeps a field named __proto__', () => {
    const item = JSON.parse('{"__proto__": {"a": 1}, "map": {"__proto__": "x"}}') as Item
    const attributes = JSON.parse(JSON.stringify(toAttributes(item)))
    expect(Object.keys(attributes)).toEqual(['__proto__', 'map'])
    expect(fromAttributes(attributes)).toEqual(item)
  })

  it.each([new Set(['a']), new Date(0), Number.NaN, 1n, () => 1])('refuses %s', (value) => {
    expect(() => toAttributes({ value })).toThrow(/^DynamoDB has no attribute for/)
  })
})
