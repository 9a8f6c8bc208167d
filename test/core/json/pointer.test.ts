import { describe, expect, it } from 'vitest'
import type { Json } from '../../../lib/core/json/json.ts'
import { toPointerTree, withoutPointers } from '../../../lib/core/json/pointer.ts'

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
