import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ExactNumber } from '../../../lib/core/json/exact-number.ts'
import { hashJson } from '../../../lib/core/json/hash-json.ts'
import { isJsonObject, isWithinDepth, type Json } from '../../../lib/core/json/json.ts'
import { JsonError, parseJson, parseStoredJson } from '../../../lib/core/json/parse-json.ts'

const INEXACT = [
  ...['9007199254740992', '9007199254740993', '-9007199254740993', '12345678901234567890123'],
  ...['100000000000000000000', '0.1234567890123456789', '1.00000000000000000001', '9007199254740993.0'],
  ...['1e-400', '123456789012345678e3', `0.${'1'.repeat(1_000)}`],
]

const EXACT = [
  ...['0', '-0', '0.0', '0e999', '9007199254740991', '1.50', '15e-1', '6.02214076e23', '1e21'],
  ...['1.7976931348623157e+308', '5e-324', '0.30000000000000004', '1.0000000000000000'],
]

function errorOf(text: string): JsonError {
  try {
    parseJson(text)
  } catch (error) {
    if (error instanceof JsonError) return error
    throw error
  }
  throw new Error('The text was accepted.')
}

describe('parseJson: numbers', () => {
  it.each(INEXACT)('keeps every digit of %s', (digits) => {
    const text = `{"a":[${digits},{"b":${digits}}]}`
    const value = parseJson(text)
    expect(JSON.stringify(value)).toBe(text)
    expect(JSON.stringify(parseStoredJson(text))).toBe(text)
    expect((value as { a: Json[] }).a[0]).toBeInstanceOf(ExactNumber)
    expect(isWithinDepth(value)).toBe(true)
  })

  it.each(EXACT)('parses %s as JSON.parse does', (digits) => {
    expect(parseJson(`[${digits}]`)).toEqual(JSON.parse(`[${digits}]`))
  })

  it.each(['1e309', '-1e999', '9'.repeat(400)])('rejects %s, beyond the range of a double', (digits) => {
    expect(errorOf(`{"a":${digits}}`).message).toContain('contains a number beyond the range of a double')
  })

  it('parses every double that JavaScript writes with an exponent or as a safe number', () => {
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (number) => {
        const text = JSON.stringify(number)
        const parsed = parseJson(text)
        if (Number.isInteger(number) && !Number.isSafeInteger(number) && !text.includes('e'))
          expect(String(parsed)).toBe(text)
        else expect(parsed).toBe(number === 0 ? 0 : number)
      }),
    )
  })

  it('hashes exact numbers by their digits, not as objects, independent of the order of keys', () => {
    expect(isJsonObject(parseJson('9007199254740993'))).toBe(false)
    const hash = (text: string) => hashJson(parseJson(text))
    expect(hash('{"b":1,"a":9007199254740993}')).toBe(hash('{"a":9007199254740993,"b":1}'))
    for (const other of ['9007199254740992', '{"rawJSON":"9007199254740993"}', '"9007199254740993"'])
      expect(hash(`{"a":${other}}`)).not.toBe(hash('{"a":9007199254740993}'))
  })
})

describe('parseJson: duplicate keys', () => {
  it.each([
    ['{"a":1,"a":1}', ['a']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
    ['{"":1,"":2}', ['']],
    ['{"a":{"b":[{"c":1},{"d":1,"e":"}{\\"","d":2}]}}', ['a', 'b', '1', 'd']],
    ['{"a" : [1, [2, {"x":":"}]], "b":{"k":"\\\\" , "k":2}}', ['b', 'k']],
    ['{"1":1,"1":2}', ['1']],
    [`{"${'long '.repeat(50)}":1,"${'long '.repeat(50)}":2}`, ['long '.repeat(50)]],
    [`{"s":"${'\\\\'.repeat(40)}","t":"${'x'.repeat(40)}\\"","t":1}`, ['t']],
  ])('rejects %s', (text, names) => {
    const error = errorOf(text)
    expect(error.message).toMatch(/^contains the key ".*" more than once$/)
    expect(error.names).toEqual(names)
  })

  it.each([
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '{"a":"\\"a\\":1,\\"a\\":2"}',
    '{"constructor":1,"__proto__":{"a":1},"toString":2}',
  ])('accepts %s', (text) => expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(JSON.parse(text))))

  it('accepts every JSON value as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom('', ' ', '\n\t'), (text, space) => {
        const spaced = JSON.stringify(JSON.parse(text), null, space)
        expect(JSON.stringify(parseJson(spaced))).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })
})

describe('parseJson: errors', () => {
  it('names invalid JSON', () => expect(errorOf('{"a":').message).toMatch(/^is not valid JSON: /))

  it.each([101, 100_000])('rejects %i levels', (levels) => {
    const lists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(errorOf(lists(levels)).message).toBe('is nested more than 100 levels deep')
    expect(() => parseJson(lists(100))).not.toThrow()
  })
})
