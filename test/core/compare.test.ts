import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { valueAt } from '../../authoring/cases/differences.ts'
import { macOf } from '../../lib/core/callback-mac.ts'
import {
  compareValues,
  cutValue,
  findDifferences,
  isSameJson,
  MAX_DIFFERENCES,
} from '../../lib/core/compare.ts'
import { ExactNumber } from '../../lib/core/json/exact-number.ts'
import { isJsonObject, type Json, type JsonObject } from '../../lib/core/json/json.ts'
import { isJsonPointer, parseJsonPointer, toPointerTree } from '../../lib/core/json/pointer.ts'

const exact = (text: string) => new ExactNumber(text) as unknown as Json
const object = (entries: [string, Json][]): JsonObject => Object.fromEntries(entries)

/** Values that are equal have the same first member. */
const LEAVES: [kind: string, value: Json][] = [
  ['one', 1],
  ['one', 1.000_000_1],
  ['one', exact('1.00000000000000000001')],
  ['two', 2],
  ['zero', 0],
  ['zero', -0],
  ['id', exact('12345678901234567890')],
  ['id', exact('1.2345678901234567891e19')],
  ['text', 'un café'],
  ['text', ' un\u00a0\n  cafe\u0301\t'],
  ['other text', 'uncafé'],
  ['nothing', ''],
  ['nothing', ' \r\n'],
  ['true', true],
  ['null', null],
]

const kindOf = (value: Json): unknown => {
  if (Array.isArray(value)) return value.map(kindOf)
  if (isJsonObject(value)) return object(Object.entries(value).map(([k, v]) => [k, kindOf(v) as Json]))
  return LEAVES.find(([, leaf]) => Object.is(leaf, value))?.[0]
}

const NAMES = ['a', 'a/b', '~', '~1', '', '__proto__', 'constructor', '0', '-', 'é']

const leaf = fc.constantFrom(...LEAVES.map(([, value]) => value))
const { tree } = fc.letrec<{ tree: Json }>((tie) => {
  const list = fc.array(tie('tree'), { maxLength: 4 })
  const members = fc.tuple(fc.constantFrom(...NAMES), tie('tree'))
  const entries = fc.uniqueArray(members, { selector: ([name]) => name, maxLength: 5 })
  return { tree: fc.oneof({ maxDepth: 4, withCrossShrink: true }, leaf, list, entries.map(object)) }
})

const all = (left: Json, right: Json, ignore: string[] = []) => [
  ...findDifferences(left, right, { ignored: toPointerTree(ignore) }),
]

describe('findDifferences', () => {
  it('finds none exactly if the values are equal after normalization', () => {
    fc.assert(
      fc.property(tree, tree, (left, right) => {
        expect(all(left, right).length === 0).toBe(isDeepStrictEqual(kindOf(left), kindOf(right)))
        expect(isSameJson(left, left)).toBe(true)
      }),
    )
  })

  it('returns pointers that resolve to the values, none of which contains another one', () => {
    fc.assert(
      fc.property(tree, tree, (left, right) => {
        const found = all(left, right)
        for (const { path, ...sides } of found) {
          expect(isJsonPointer(path)).toBe(true)
          const names = parseJsonPointer(path)
          expect({ left: valueAt(left, names), right: valueAt(right, names) }).toEqual(sides)
        }
        const paths = found.map(({ path }) => `${path}/`)
        expect(new Set(paths).size).toBe(paths.length)
        for (const path of paths) expect(paths.filter((each) => each.startsWith(path))).toEqual([path])
      }),
    )
  })

  it('finds what is not ignored', () => {
    fc.assert(
      fc.property(tree, tree, fc.nat(), (left, right, index) => {
        const found = all(left, right)
        const ignored = found[index % found.length]?.path ?? ''
        expect(all(left, right, [ignored]).map(({ path }) => path)).toEqual(
          found.map(({ path }) => path).filter((path) => path !== ignored && ignored !== ''),
        )
        const parent = ignored.slice(0, ignored.lastIndexOf('/'))
        expect(all(left, right, [parent]).filter(({ path }) => path.startsWith(`${parent}/`))).toEqual([])
        expect(all(left, right, ['/no/such/member', '/0/-'])).toEqual(
          found.filter(({ path }) => path !== '/0/-' && !path.startsWith('/0/-/')),
        )
      }),
    )
  })

  it.each<[Json, Json, boolean]>([
    [1, 1.000_000_9, true],
    [1, 1.000_002, false],
    [-1, 1, false],
    [1e300, 1.000_000_1e300, true],
    [-1.7e308, 1.7e308, false],
    [0, 1e-30, false],
    [5e-324, 1e-323, false],
    [exact('1e-400'), exact('2e-400'), false],
    [exact('1e-400'), exact('10e-401'), true],
    [exact('12345678901234567890'), 12345678901234567000, true],
    [exact('12345678901234567890'), exact('12345778901234567890'), false],
    [1, '1', false],
    [null, false, false],
    [null, 0, false],
    ['caf\u00e9', 'cafe\u0301', true],
    [' a\n\tb ', 'a b', true],
    ['a b', 'ab', false],
    ['a', 'A', false],
    ['\ufb01', 'fi', false],
    [[], {}, false],
    [[], null, false],
    [{}, {}, true],
    [10_000_001, 10_000_002, false],
    [1, 1.0000000001, true],
  ])('compares %j and %j: %s', (left, right, same) => {
    expect([isSameJson(left, right), isSameJson(right, left)]).toEqual([same, same])
    expect(isSameJson([{ a: left }], [{ a: right }])).toBe(same)
  })

  it('compares the members of objects that are called like those of their prototype', () => {
    const own = JSON.parse('{ "__proto__": { "a": 1 }, "toString": 2 }')
    expect(all(own, {}).map(({ path }) => path)).toEqual(['/__proto__', '/toString'])
    expect(all({}, own)).toMatchObject([{ left: undefined }, { left: undefined }])
    expect(all(own, JSON.parse('{ "__proto__": { "a": 2 }, "toString": 2 }'))).toEqual([
      { path: '/__proto__/a', left: 1, right: 2 },
    ])
  })

  it('reports the object that has members with long names', () => {
    const [long, other] = ['/'.repeat(100_000), '~'.repeat(100_000)]
    const withMembers = (value: Json) => ({ in: object([long, 'a', other].map((name) => [name, value])) })
    expect(all(withMembers(1), withMembers(2)).map(({ path }) => path)).toEqual(['/in/a', '/in'])
    expect(all(withMembers(1), withMembers(1))).toEqual([])
  })

  it('compares 100 levels, and 5 MB in 100,000 items', () => {
    const nested = (value: Json) =>
      Array.from({ length: 99 }).reduce<Json>((inner) => ({ a: [inner] }), value)
    expect(all(nested(1), nested(2))).toHaveLength(1)
    const text = 'x'.repeat(30)
    const items = (last: number) =>
      Array.from({ length: 100_000 }, (_, id) => ({ id, text, n: id === 99_999 ? last : 0.1 }))
    expect(all(items(1), items(2))).toEqual([{ path: '/99999/n', left: 1, right: 2 }])
    const long = 'x y'.repeat(1_700_000)
    expect(all(long, long.replaceAll(' ', '\n\n'))).toEqual([])
  })
})

describe('compareValues', () => {
  it('keeps the first differences, and says that there are more', () => {
    const compareLists = (length: number) => compareValues(Array(length).fill(1), Array(length).fill(2))
    const differences = Array.from({ length: MAX_DIFFERENCES }, (_, i) => ({
      path: `/${i}`,
      original: 1,
      trial: 2,
    }))
    expect(compareLists(MAX_DIFFERENCES)).toEqual({ differences })
    expect(compareLists(100_000)).toEqual({ differences, isCut: true })
  })

  it('leaves out the side that has no value', () => {
    const differencesOf = (original: Json | undefined, trial: Json) =>
      compareValues(original, trial).differences
    const [gone, added] = [
      { path: '/a', original: null },
      { path: '/c', trial: [] },
    ]
    expect(differencesOf({ a: null, b: 1 }, { b: 1, c: [] })).toEqual([gone, added])
    expect(differencesOf(undefined, {})).toEqual([{ path: '', trial: {} }])
  })

  it('stays small, whatever it compares', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        const factor = (value: unknown): Json => Array(50).fill({ [JSON.stringify(value)]: value })
        const size = JSON.stringify(compareValues(factor(left), factor(right))).length
        // Each character of a cut value takes up to six in JSON.
        expect(size).toBeLessThan(MAX_DIFFERENCES * (6 * 2 * 210 + 600))
      }),
    )
  })
})

describe('cutValue', () => {
  it.each<[Json, Json]>([
    ['x'.repeat(200), 'x'.repeat(200)],
    ['x'.repeat(201), `${'x'.repeat(200)}…`],
    [`${'x'.repeat(199)}😀`, `${'x'.repeat(199)}…`],
    [['x'.repeat(196)], ['x'.repeat(196)]],
    [['x'.repeat(197)], `["${'x'.repeat(197)}"…`],
    [
      { a: [1, { b: null }], c: 'd' },
      { a: [1, { b: null }], c: 'd' },
    ],
    [Array(1_000).fill({ 'a"': exact('1.10') }), `${'[{"a\\"":1.10},'.slice(0, 14)}`],
    [{ ['k'.repeat(1_000)]: 1 }, `{"${'k'.repeat(198)}…`],
  ])('shows %j as %j', (value, expected) => {
    const shown = cutValue(value)
    if (typeof expected === 'string' && !expected.endsWith('…'))
      expect(String(shown).startsWith(expected)).toBe(true)
    else expect(shown).toEqual(expected)
  })

  it('is the value, or the beginning of its JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const shown = cutValue(value as Json)
        if (isDeepStrictEqual(shown, value)) return
        const text = typeof value === 'string' ? value : JSON.stringify(value)
        expect(text.length).toBeGreaterThan(200)
        expect(text.startsWith(String(shown).slice(0, -1))).toBe(true)
      }),
    )
  })

  it('shows no part of the MAC of a callback URL', () => {
    const mac = macOf('secret', 'id', 'name')
    fc.assert(
      fc.property(fc.nat(260), fc.integer({ min: 1, max: 20 }), (before, macs) => {
        const text = 'x'.repeat(before) + `${mac}/`.repeat(macs)
        for (const value of [text, [text], { [text]: 1 }])
          expect(JSON.stringify(cutValue(value))).not.toContain(mac.slice(0, 12))
      }),
    )
    const masked = { path: '/[secret callback]', original: '[secret callback]' }
    expect(compareValues({ [mac]: mac }, {})).toEqual({ differences: [masked] })
  })
})
