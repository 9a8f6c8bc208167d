import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { initialDepth, portionsOf, preview, toNode } from '../../../console/components/json-tree.ts'
import { parseStoredJson } from '../../../lib/core/json/parse-json.ts'
import { IMAGE, PDF, pdfOf } from '../../support/data/files.ts'

it('toNode keeps every digit, and tells null from an object', () => {
  const number = '12345678901234567890'
  expect(toNode(parseStoredJson(number))).toEqual({ kind: 'number', text: number })
  expect(toNode(null)).toEqual({ kind: 'literal', text: 'null' })
  expect(toNode({ a: null })).toEqual({ kind: 'object', size: 1 })
})

describe('a file', () => {
  const data = pdfOf(1_500_000)

  it.each<[unknown, string]>([
    [{ ...PDF, data }, 'application/pdf, 1.5 MB'],
    [`data:image/png;name=a.png;base64,${IMAGE.data}`, 'image/png, 70 B'],
  ])('is shown by its type and size (%#)', (value, text) => {
    expect(toNode(value)).toEqual({ kind: 'file', text })
    expect(preview({ a: 1, value })).toBe(`{"a": 1, "value": ${text}}`)
    expect(initialDepth({ value }, 60)).toBe(1)
  })

  it.each<[unknown]>([
    [{ ...PDF, name: 'May.pdf' }],
    [{ mediaType: 'text/plain', data }],
    [{ mediaType: 'image/png', data: 'see attachment' }],
    ['data:text/plain,Hello'],
  ])('is not any other value (%#)', (value) => expect(toNode(value).kind).not.toBe('file'))
})

it('preview shows the first entries, and reads no more of a large value than it shows', () => {
  expect(preview({ a: 1, b: [1], c: {}, d: 'x' })).toBe('{"a": 1, "b": […], "c": {}, "d": "x"}')
  expect(preview([1, 2])).toBe('[1, 2]')
  const entries = Array.from({ length: 1_000 }, (_, index) => [`field ${index}`, index])
  const large = preview({ text: 'x'.repeat(5_000_000), ...Object.fromEntries(entries) })
  expect(large.length).toBeLessThan(120)
  expect(large).toMatch(/…}$/)
})

it('initialDepth opens a small value completely, and only the first level of a large one', () => {
  expect(initialDepth({ a: { b: { c: 1 } } }, 60)).toBe(3)
  expect(initialDepth('text', 60)).toBe(0)
  const rows = Array.from({ length: 10_000 }, () => ({ a: 1 }))
  expect([initialDepth({ rows }, 60), initialDepth(rows, 60)]).toEqual([1, 1])
})

it('portionsOf adds up to the text, splits no character, and has at most the portions asked for', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 5 }), (text, size) => {
      const portions = portionsOf(text, size, Number.POSITIVE_INFINITY)
      expect(portions.join('')).toBe(text)
      if (text.isWellFormed()) expect(portions.every((portion) => portion.isWellFormed())).toBe(true)
    }),
  )
  expect(portionsOf('abcdefg', 2, 2)).toEqual(['ab', 'cd'])
  const family = '👩‍👩‍👧‍👦'
  expect(portionsOf(`abcd${family}e`, 6, 3)).toEqual(['abcd', family, 'e'])
  const marked = `a${'\u0301'.repeat(300)}`
  expect(portionsOf(marked, 100, 9).join('')).toBe(marked)
})
