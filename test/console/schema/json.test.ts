import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toJson } from '../../../console/schema/check-text.ts'
import {
  getNode,
  numberNode,
  printJson,
  setNode,
  textNode,
  valueNode,
} from '../../../console/schema/json-edit.ts'
import { isJsonNumber, JsonSyntaxError, parseJsonTree } from '../../../console/schema/json-node.ts'

const edit = (
  text: string,
  ...change: Parameters<typeof setNode> extends [unknown, ...infer Rest] ? Rest : never
) => printJson(setNode(parseJsonTree(text), ...change) ?? valueNode(null), null)

describe('setNode', () => {
  it.each([
    ['{"a":1}', ['b'], numberNode('12345678901234567890'), '{"a":1,"b":12345678901234567890}'],
    ['{}', ['a', 'b', 0], textNode('x'), '{"a":{"b":["x"]}}'],
    ['{"a":1,"b":2}', ['a'], undefined, '{"b":2}'],
    ['{"a":[1,2,3]}', ['a', 1], undefined, '{"a":[1,3]}'],
    ['{"a":[1,2]}', ['a', 2], numberNode('3'), '{"a":[1,2,3]}'],
    ['{"a":1,"a":2}', ['a'], numberNode('3'), '{"a":3}'],
    ['{"__proto__":1}', ['__proto__'], numberNode('2'), '{"__proto__":2}'],
    ['{"":1}', [''], undefined, '{}'],
  ])('changes %s at %j', (text, path, value, expected) => expect(edit(text, path, value)).toBe(expected))

  it('adds a field where the schema has it', () => {
    expect(edit('{"a":1,"d":4}', ['c'], numberNode('3'), ['a', 'b', 'c', 'd'])).toBe('{"a":1,"c":3,"d":4}')
    expect(edit('{"x":0,"b":2}', ['a'], numberNode('1'), ['a', 'b'])).toBe('{"x":0,"a":1,"b":2}')
  })

  it('makes what JavaScript makes', () => {
    const path = fc.array(fc.constantFrom('a', 'b', ''), { minLength: 1, maxLength: 3 })
    fc.assert(
      fc.property(fc.array(fc.tuple(path, fc.jsonValue({ maxDepth: 1 }))), (changes) => {
        let node = parseJsonTree('{}')
        for (const [names, value] of changes) node = setNode(node, names, valueNode(value)) ?? node
        const [names, value] = changes.at(-1) ?? [[], {}]
        const found = getNode(node, names)
        expect(found && printJson(found, null)).toBe(JSON.stringify(value))
      }),
    )
  })
})

it('numberNode keeps what is no number as text, so that the check names it', () => {
  expect(printJson(numberNode('1.'))).toBe('"1."')
  expect(printJson(numberNode('1.50'))).toBe('1.50')
})

function errorOf(text: string): JsonSyntaxError {
  try {
    parseJsonTree(text)
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error
    throw error
  }
  throw new Error('The text was accepted.')
}

const isValid = (text: string, parse: (text: string) => unknown): boolean => {
  try {
    parse(text)
    return true
  } catch {
    return false
  }
}

/** The service, like the page, rejects numbers beyond the range of a double. */
const parseFinite = (text: string) =>
  JSON.parse(text, (_, value) => {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError()
    return value
  })

describe('parseJsonTree', () => {
  it('reads every JSON text as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom('', ' ', '\n\t'), (text, space) => {
        const spaced = JSON.stringify(JSON.parse(text), null, space)
        expect(JSON.stringify(toJson(parseJsonTree(spaced)))).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })

  it('accepts and rejects the same texts as JSON.parse', () => {
    const characters = '{}[],:"\\-01x/ \n\u2028\u0000\ufeff'
    const piece = fc.constantFrom(...characters, '"a"', '\\u00e9', '.5', 'e3', 'true', 'null', '\ud83d')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        // Byte order marks at the start are no JSON, but the service ignores one.
        const text = pieces.join('').replace(/^\ufeff+/, '')
        expect(isValid(text, parseJsonTree)).toBe(isValid(text, parseFinite))
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['{"a": 1,}', 7, 'Remove the comma before the closing brace.'],
    ['[1, 2,\n]', 5, 'Remove the comma before the closing bracket.'],
    ['{"a" 1}', 5, 'Expected a colon after the field name.'],
    ['{"a": 1 "b": 2}', 8, 'Expected a comma or a closing brace.'],
    ["{'a': 1}", 1, 'Expected a field name in double quotes.'],
    ['{"a": "b', 6, 'The text is not closed: expected a double quote.'],
    ['{"a": "b\n"}', 8, 'A text cannot contain a line break. Write \\n.'],
    ['{"a": "\t"}', 7, 'A text cannot contain a control character. Write \\t.'],
    ['{"a": 007}', 6, '007 is not a number of JSON: write it without leading zeros.'],
    ['{"a": .5}', 6, '.5 is not a number of JSON: write it such as 12, -0.5 or 6e23.'],
    ['{"a": 1e999}', 6, 'The number is beyond the range of a double.'],
    ['{"a": True}', 6, 'Expected a value, found True.'],
    ['{"a":', 5, 'The JSON ends too early.'],
    ['{} {}', 3, 'Expected nothing after the value.'],
  ])('says what is wrong with %j, and where', (text, offset, message) => {
    const error = errorOf(text)
    expect(error.message).toBe(message)
    expect(error.offset).toBe(offset)
  })

  it('accepts 100 levels, like the service', () => {
    expect(() => parseJsonTree(`${'['.repeat(100)}1${']'.repeat(100)}`)).not.toThrow()
    expect(errorOf('['.repeat(100_000)).message).toBe('The JSON is nested more than 100 levels deep.')
  })

  it('reads a text of 5 MB', () => {
    const value = { text: 'x'.repeat(5_000_000), list: Array.from({ length: 10_000 }, (_, index) => index) }
    expect(toJson(parseJsonTree(JSON.stringify(value)))).toEqual(value)
  })
})

it('isJsonNumber accepts numbers of JSON only', () => {
  const numbers = ['0', '-0', '12345678901234567890', '0.1234567890123456789', '1.50', '6e23', '-1E+2']
  expect(numbers.filter((text) => !isJsonNumber(text))).toEqual([])
  const others = ['', '-', '1.', '.5', '+1', '007', '1e', 'NaN', ' 1', '1 ', '0x10', '١']
  expect(others.filter(isJsonNumber)).toEqual([])
})

describe('printJson', () => {
  it('writes numbers as they were typed', () => {
    const text = '{"a":12345678901234567890,"b":[0.1234567890123456789,1.50,-0,1E40]}'
    expect(printJson(parseJsonTree(text), null)).toBe(text)
  })

  it('indents like JSON.stringify', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        const expected = JSON.stringify(JSON.parse(text), null, 2)
        expect(printJson(parseJsonTree(JSON.stringify(JSON.parse(text))))).toBe(expected)
      }),
    )
  })
})
