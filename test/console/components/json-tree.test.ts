import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { initialDepth, portionsOf, preview, toNode } from '../../../console/components/json-tree.ts'
import { parseStoredJson } from '../../../lib/core/json/parse-json.ts'

describe('toNode', () => {
  it('keeps every digit', () => {
    expect(toNode(parseStoredJson('12345678901234567890'))).toEqual({
      kind: 'number',
      text: '12345678901234567890',
    })
  })

  it('tells null from an object', () => {
    expect(toNode(null)).toEqual({ kind: 'literal', text: 'null' })
    expect(toNode({ a: null })).toEqual({ kind: 'object', size: 1 })
  })
})

describe('preview', () => {
  it('shows the first entries', () => {
    expect(preview({ a: 1, b: [1], c: {}, d: 'x' })).toBe('{"a": 1, "b": […], "c": {}, "d": "x"}')
    expect(preview([1, 2])).toBe('[1, 2]')
  })

  it('reads no more of a large value than it shows', () => {
    const large = preview({ text: 'x'.repeat(5_000_000), ...Object.fromEntries(entries(1_000)) })
    expect(large.length).toBeLessThan(120)
    expect(large).toMatch(/…}$/)
  })
})

const entries = (count: number) => Array.from({ length: count }, (_, index) => [`field ${index}`, index])

describe('initialDepth', () => {
  it('opens a small value completely', () => {
    expect(initialDepth({ a: { b: { c: 1 } } }, 60)).toBe(3)
    expect(initialDepth('text', 60)).toBe(0)
  })

  it('opens only the first level of a large one', () => {
    expect(initialDepth({ rows: Array.from({ length: 10_000 }, () => ({ a: 1 })) }, 60)).toBe(1)
    expect(
      initialDepth(
        Array.from({ length: 10_000 }, () => [1]),
        60,
      ),
    ).toBe(1)
  })
})

describe('portionsOf', () => {
  it('adds up to the text and splits no character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 5 }), (text, size) => {
        const portions = portionsOf(text, size, Number.POSITIVE_INFINITY)
        expect(portions.join('')).toBe(text)
        if (text.isWellFormed()) expect(portions.every((portion) => portion.isWellFormed())).toBe(true)
      }),
    )
  })

  it('has at most the portions that are asked for', () => {
    expect(portionsOf('abcdefg', 2, 2)).toEqual(['ab', 'cd'])
  })
})
