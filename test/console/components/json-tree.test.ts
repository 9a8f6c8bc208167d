import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { initialDepth, portionsOf, preview, toNode } from '../../../console/components/json-tree.ts'
import { parseStoredJson } from '../../../lib/core/json/parse-json.ts'
import { IMAGE, PDF, pdfOf } from '../../support/data/files.ts'

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

describe('a file', () => {
  const data = pdfOf(1_500_000)

  it.each<[unknown, string]>([
    [{ ...PDF, data }, 'application/pdf, 1.5 MB'],
    [`data:application/pdf;base64,${data}`, 'application/pdf, 1.5 MB'],
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
    [{ mediaType: 'image/png', data: 5 }],
    ['data:text/plain,Hello'],
  ])('is not any other value (%#)', (value) => expect(toNode(value).kind).not.toBe('file'))
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
