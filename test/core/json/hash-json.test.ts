import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../lib/core/json/canonical-json.ts'
import { type CacheIdentity, cacheKeyOf } from '../../../lib/core/json/hash-json.ts'
import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import { isJsonObject, isWithinDepth, MAX_JSON_DEPTH } from '../../../lib/core/json/json.ts'
import { toPointerTree, withoutPointers } from '../../../lib/core/json/pointer.ts'

/** RFC 8785, appendix B: the bits of a number and its canonical form; null where it has none. */
const NUMBERS: [bits: string, text: string | null][] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['7fffffffffffffff', null],
  ['7ff0000000000000', null],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
]

describe('canonicalJson', () => {
  it.each(NUMBERS)('serializes the number %s as %s (RFC 8785, appendix B)', (bits, text) => {
    expect(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE())).toBe(text)
  })

  it('serializes strings, literals and numbers (RFC 8785, section 3.2.2)', () => {
    const given = String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`
    expect(canonicalJson(JSON.parse(given))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    )
  })

  it('sorts property names by UTF-16 code units (RFC 8785, section 3.2.3)', () => {
    const given = String.raw`{
      "\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control", "\u00f6": "Latin Small Letter O With Diaeresis"
    }`
    const values = [...(canonicalJson(JSON.parse(given)) ?? '').matchAll(/:"([^"]*)"/g)]
    expect(values.map(([, value]) => value)).toEqual([
      ...['Carriage Return', 'One', 'Control', 'Latin Small Letter O With Diaeresis'],
      ...['Euro Sign', 'Emoji: Grinning Face', 'Hebrew Letter Dalet With Dagesh'],
    ])
  })

  it('returns null for a lone surrogate (RFC 8785, section 3.2.2.2)', () => {
    expect([canonicalJson({ text: '\ud800' }), canonicalJson({ '\udead': 1 })]).toEqual([null, null])
  })
})

const identity: CacheIdentity = {
  ...{ agentId: 'agent', versionId: 'version', tenantId: null },
  ...{ input: { text: 'x' }, model: null, useDynamicLearning: false },
}

const keyOf = (json: string) => cacheKeyOf({ ...identity, input: JSON.parse(json) })

describe('cacheKeyOf', () => {
  it.each([
    ['property order', '{"a": 1, "b": {"c": [1, 2], "d": 3}}', '{"b": {"d": 3, "c": [1, 2]}, "a": 1}'],
    ['number formats', '{"a": 1}', '{"a": 1.0}'],
    ['exponents', '{"a": 100}', '{"a": 1e2}'],
    ['negative zero', '{"a": 0}', '{"a": -0}'],
    ['escapes', '{"a": "é😀/"}', String.raw`{"a": "\u00e9\ud83d\ude00\/"}`],
    ['escaped property names', '{"é": 1}', String.raw`{"\u00e9": 1}`],
    ['whitespace', '{"a":[1,2]}', ' { "a" : [ 1 , 2 ] } '],
  ])('ignores %s', (_, one, other) => {
    expect(keyOf(one)).toBe(keyOf(other))
    expect(keyOf(one)).toMatch(/^[0-9a-f]{64}$/)
  })

  it.each([
    ['strings and numbers', '{"a": "1"}', '{"a": 1}'],
    ['null and absent properties', '{"a": null}', '{}'],
    ['arrays in different order', '{"a": [1, 2]}', '{"a": [2, 1]}'],
    ['composed and decomposed characters', '{"a": "é"}', '{"a": "e\u0301"}'],
    ['empty arrays and objects', '{"a": []}', '{"a": {}}'],
  ])('distinguishes %s', (_, one, other) => {
    expect(keyOf(one)).not.toBe(keyOf(other))
  })

  it.each([
    ['agent', { agentId: 'other' }],
    ['version', { versionId: 'other' }],
    ['tenant', { tenantId: 'acme' }],
    ['tenant with the name "null"', { tenantId: 'null' }],
    ['model', { model: 'openai/x' }],
    ['learning', { useDynamicLearning: true }],
  ] satisfies [string, Partial<CacheIdentity>][])('depends on the %s', (_, other) => {
    expect(cacheKeyOf({ ...identity, ...other })).not.toBe(cacheKeyOf(identity))
  })

  it('is null for an input without a canonical form', () => {
    expect(cacheKeyOf({ ...identity, input: { text: '\ud800' } })).toBeNull()
  })

  it('is equal for two inputs exactly when they are equal', () => {
    const inputs = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3 }))
    const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as JsonObject
    fc.assert(
      fc.property(inputs, inputs, (a, b) => {
        const [one, other] = [plain(a), plain(b)]
        const reversed = Object.fromEntries(Object.entries(one).reverse())
        const key = (input: JsonObject) => cacheKeyOf({ ...identity, input })
        expect(key(reversed)).toBe(key(one))
        expect(key(one) === key(other)).toBe(canonicalJson(one) === canonicalJson(other))
      }),
    )
  })
})

const nested = (levels: number) => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = i % 2 ? { a: value } : [value]
  return value
}

// The last one without an overflow of the stack.
it.each([
  [MAX_JSON_DEPTH, true],
  [MAX_JSON_DEPTH + 1, false],
  [1_000_000, false],
])('isWithinDepth of %d levels is %s', (levels, isWithin) => {
  expect(isWithinDepth(nested(levels))).toBe(isWithin)
})

it('isJsonObject accepts nothing but objects', () => {
  expect([{}, null, [], 'a', 1, true, undefined].filter(isJsonObject)).toEqual([{}])
})

describe('withoutPointers', () => {
  const value = { a: { b: 1, c: [1, { d: 2 }, 3] }, 'x/y': { '~': 4 }, e: 'text' }
  const cases: [string[], Json][] = [
    [[], value],
    [['/a/b'], { a: { c: [1, { d: 2 }, 3] }, 'x/y': { '~': 4 }, e: 'text' }],
    [['/a/c/1/d'], { a: { b: 1, c: [1, {}, 3] }, 'x/y': { '~': 4 }, e: 'text' }],
    [['/a/c/1', '/e'], { a: { b: 1, c: [1, null, 3] }, 'x/y': { '~': 4 } }],
    [['/a', '/a/b', '/x~1y/~0'], { 'x/y': {}, e: 'text' }],
    [['/a/missing', '/e/0', '/a/c/-', '/a/c/9', '/__proto__', '/constructor'], value],
    [[''], null],
  ]
  it.each(cases)('leaves out %j', (pointers, expected) => {
    expect(withoutPointers(value, toPointerTree(pointers))).toEqual(expected)
  })
})
