import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  AGENT_FILTER,
  hrefOf,
  isFiltered,
  parseFilters,
  TIME_FILTER,
} from '../../../console/components/filters.ts'
import { splitHidden, toVisible } from '../../../console/components/hidden-characters.ts'
import { initialDepth, portionsOf, preview, toNode } from '../../../console/components/json-tree.ts'
import { parseStoredJson } from '../../../lib/core/json/parse-json.ts'
import { IMAGE, PDF, pdfOf } from '../../support/data/files.ts'

const FILTERS = {
  show: { label: 'Shown', choices: { valid: 'Valid', all: 'All' }, default: 'valid' },
  search: { label: 'Search', type: 'search' },
  ...AGENT_FILTER,
  ...TIME_FILTER,
} as const

const parse = (query: string) => parseFilters(FILTERS, new URLSearchParams(query))

it.each([
  ['', '#/list', false],
  ['show=valid', '#/list', false],
  ['show=all', '#/list?show=all', false],
  ['show=none&period=1y&from=yesterday', '#/list', false],
  ['agent=%20a%20', '#/list?agent=a', true],
  ['search=%20a%20', '#/list?search=+a+', true],
  ['period=1h&from=2026-01-01T10:00', '#/list?period=1h', true],
  ['from=2026-01-01T10:00', '#/list?period=custom&from=2026-01-01T10%3A00', true],
])('of the query %j', (query, href, filters) => {
  const values = parse(query)
  expect(hrefOf('/list', FILTERS, values)).toBe(href)
  expect(isFiltered(FILTERS, values)).toBe(filters)
  expect(parse(href.split('?')[1] ?? '')).toEqual({ ...values, ...(values.period === '1h' && { from: '' }) })
})

describe('toVisible', () => {
  it.each([
    ['invoice\u202egpj.exe', 'invoice[U+202E]gpj.exe'],
    ['a\u2066b\u2069c\u061c\u200e\u200f', 'a[U+2066]b[U+2069]c[U+061C][U+200E][U+200F]'],
    ['pay\u200bpal\ufeff', 'pay[U+200B]pal[U+FEFF]'],
    ['ad\u200dmin', 'ad[U+200D]min'],
    ['\u0000\u001b[31m\u0085', '[U+0000][U+001B][31m[U+0085]'],
    ['Hello\u{e0061}\u{e0062}!', 'Hello[tags: ab]!'],
    ['x\u{e0100}', 'x[U+E0100]'],
    ['x\u{e0067}\u{e0062}\u{e007f}', 'x[tags: gb][U+E007F]'],
    ['🏴\u{e0067}\u{e0062}x', '🏴[tags: gb]x'],
  ])('shows what is hidden: %j', (text, shown) => {
    expect(toVisible(text)).toBe(shown)
  })

  it.each([
    'Zwei Zeilen\r\nmit\tTabulator\n',
    'مرحبا, می\u200cخواهم',
    'שלום world',
    'क्\u200dष',
    '👩\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3 🏳\ufe0f\u200d🌈 👩🏽\u200d💻',
    '葛\u{e0100}城',
    '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}',
  ])('leaves what belongs to the writing: %j', (text) => {
    expect(toVisible(text)).toBe(text)
  })
})

describe('splitHidden', () => {
  it('names the tokens, and keeps the order', () => {
    expect(splitHidden('a\u202eb')).toEqual(['a', { label: 'U+202E', name: 'right-to-left override' }, 'b'])
    expect(splitHidden('')).toEqual([])
  })

  it('takes a moment for a text of many of them', () => {
    expect(splitHidden('\u202ea'.repeat(50_000))).toHaveLength(100_000)
  })
})

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
