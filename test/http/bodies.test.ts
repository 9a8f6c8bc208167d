import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda'
import { describe, expect, it, vi } from 'vitest'
import type { ServiceEvent } from '../../lib/http/event.ts'
import { assertFitsInvocation, assertFitsResult } from '../../lib/http/invocation-size.ts'
import { jsonBody } from '../../lib/http/json-body.ts'
import { readLines } from '../../lib/http/lines-body.ts'

type Parts = { body?: string | null; type?: string; encoding?: string; isBase64Encoded?: boolean }

/** The parsed body, or the code of the error. */
function parse(
  { body = null, type = 'application/json', encoding, isBase64Encoded = false }: Parts,
  options = {},
) {
  const headers = { 'content-type': type, ...(encoding && { 'content-encoding': encoding }) }
  const event = { headers, body, isBase64Encoded } as unknown as ServiceEvent
  try {
    jsonBody(options).before?.({ event } as never)
    return event.json
  } catch (error) {
    return (error as { code: string }).code
  }
}

const base64 = (bytes: Uint8Array) => ({ body: Buffer.from(bytes).toString('base64'), isBase64Encoded: true })

const BROKEN: Record<string, Parts> = {
  'no bytes': { body: '' },
  'white space': { body: '  \n\t' },
  'a broken object': { body: '{"text": "a"' },
  'two objects': { body: '{}{}' },
  'a trailing comma': { body: '{"text": "a",}' },
  'single quotes': { body: "{'text': 'a'}" },
  NaN: { body: '{"text": NaN}' },
  'a comment': { body: '{"text": "a"} // hello' },
  'a form': { body: 'text=a&b=c' },
  'a NUL byte': { body: '\u0000' },
  'a control character in a string': { body: '{"text": "\u0001"}' },
  'invalid UTF-8': base64(new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])),
  'UTF-16': base64(Buffer.from('{"text":"a"}', 'utf16le')),
  'a duplicate key': { body: '{"a":1,"\\u0061":2}' },
  'a number beyond the range of a double': { body: '{"a":1e999}' },
  'a list nested a hundred thousand levels deep': { body: '['.repeat(100_000) + ']'.repeat(100_000) },
  'an object nested 101 levels deep': { body: `${'{"a":'.repeat(101)}1${'}'.repeat(101)}` },
}

describe('jsonBody', () => {
  it.each(Object.entries(BROKEN))('rejects %s', (_, parts) => {
    for (const options of [{}, { anyBody: true }]) expect(parse(parts, options)).toBe('InvalidJson')
  })

  it.each(['[{"text": "a"}]', '[]', '"text"', '42', 'true', 'null'])(
    'accepts %s only where any JSON is a body',
    (body) => {
      expect(parse({ body })).toBe('InvalidJson')
      expect(parse({ body }, { anyBody: true })).toEqual(JSON.parse(body))
    },
  )

  it.each([
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json; charset=utf-16',
    'application/json, text/plain',
    '*/*',
    '',
  ])('rejects the type "%s"', (type) => expect(parse({ body: '{}', type })).toBe('UnsupportedMediaType'))

  it.each(['APPLICATION/JSON', 'application/json;charset="UTF-8"', 'application/vnd.api+json'])(
    'accepts the type %s',
    (type) => expect(parse({ body: '{}', type })).toEqual({}),
  )

  it('rejects a compressed body', () => {
    expect(parse({ body: '{}', encoding: 'gzip' })).toBe('UnsupportedMediaType')
    expect(parse({ body: '{}', encoding: 'Identity' })).toEqual({})
  })

  it('reads base64, ignores a byte order mark, and keeps keys that are special in JavaScript', () => {
    expect(parse({ body: '\ufeff{"text":"a"}' })).toEqual({ text: 'a' })
    expect(parse(base64(Buffer.from('{"text":"é"}')))).toEqual({ text: 'é' })
    const special = '{"__proto__":{"x":1},"constructor":1,"toString":null}'
    expect(JSON.stringify(parse({ body: special }))).toBe(special)
  })

  it('takes nothing for an empty object where a body is optional, or for null if any JSON is one', () => {
    expect(parse({}, { optionalBody: true })).toEqual({})
    expect(parse({}, { optionalBody: true, anyBody: true })).toBeNull()
    expect(parse({})).toBe('InvalidJson')
  })

  it('counts bytes, not characters', () => {
    const body = (text: string) => ({ body: JSON.stringify({ text }) })
    expect(parse(body('a'.repeat(89)), { maxBodyBytes: 100 })).toMatchObject({})
    for (const text of ['a'.repeat(90), 'ä'.repeat(45)])
      expect(parse(body(text), { maxBodyBytes: 100 })).toBe('PayloadTooLarge')
    expect(parse(body('a'.repeat(5_999_989)))).toMatchObject({})
    expect(parse(body('a'.repeat(5_999_990)))).toBe('PayloadTooLarge')
  })
})

const NDJSON = 'application/x-ndjson'
const JSON_TYPE = 'application/json'

const read = (body: string, type?: string, more: object = {}) => {
  const headers = type === undefined ? {} : { 'content-type': type }
  return readLines({ headers, body, isBase64Encoded: false, ...more } as unknown as ServiceEvent)
}

const refused = (...args: Parameters<typeof read>) => {
  try {
    return read(...args)
  } catch (error) {
    return [(error as { code: string }).code, (error as Error).message]
  }
}

const a = { customId: 'a', input: {} }
const text = JSON.stringify(a)

describe('readLines', () => {
  it('ignores blank lines, but counts them, whatever ends a line', () => {
    const body = `\ufeff\r\n${text}\r\n  \n${text}\n\n7`
    const lines = [
      { line: 2, value: a },
      { line: 4, value: a },
      { line: 6, value: 7 },
    ]
    expect(read(body, NDJSON)).toEqual(lines)
    expect(read(body)).toEqual(lines)
    expect(read(Buffer.from(body).toString('base64'), NDJSON, { isBase64Encoded: true })).toEqual(lines)
  })

  it('refuses too many lines without parsing them', () => {
    const parse = vi.spyOn(JSON, 'parse')
    expect(refused('{\n'.repeat(10_001), NDJSON)).toEqual([
      'PayloadTooLarge',
      'The batch has 10001 lines; at most 10000 are allowed. Split it into several batches.',
    ])
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
  })

  it('counts the items of a list', () => {
    const lines = [
      { line: 1, value: a },
      { line: 2, value: 7 },
    ]
    for (const type of [JSON_TYPE, 'application/json; charset=utf-8', undefined])
      expect(read(`\ufeff [${text},\n7]`, type)).toEqual(lines)
  })

  it.each(['application/ndjson', 'application/jsonl', 'application/x-ndjson;charset=UTF-8', NDJSON])(
    'reads lines of the type %s',
    (type) => expect(read(text, type)).toEqual([{ line: 1, value: a }]),
  )

  it('says of each line what is wrong with it, and reads the others', () => {
    const lines = read(`{"a":1,"b":{"c":1,"c":2}}\n{"a":\n${text}\n[${text}]`, NDJSON)
    expect(lines).toEqual([
      { line: 1, problem: 'contains the key "c" more than once, at /b/c' },
      { line: 2, problem: expect.stringMatching(/^is not valid JSON: /) },
      { line: 3, value: a },
      { line: 4, value: [a] },
    ])
  })

  it('accepts inputs as deep as those of a run', () => {
    const lineWith = (depth: number) =>
      `{"customId":"a","input":${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}}`
    expect(read(lineWith(100), NDJSON)).toMatchObject([{ line: 1, value: {} }])
    expect(read(lineWith(101), NDJSON)).toMatchObject([{ problem: 'is nested more than 101 levels deep' }])
    expect(read(`[${lineWith(100)}]`, JSON_TYPE)).toMatchObject([{ line: 1, value: {} }])
    expect(refused(`[${lineWith(101)}]`, JSON_TYPE)).toEqual([
      'InvalidJson',
      'The body is nested more than 102 levels deep.',
    ])
  })

  it('refuses other bodies', () => {
    expect(refused(text, 'text/csv')).toEqual(['UnsupportedMediaType', expect.stringContaining(NDJSON)])
    expect(refused(text, NDJSON, { headers: { 'Content-Encoding': 'gzip' } })[0]).toBe('UnsupportedMediaType')
    expect(refused(text, JSON_TYPE)).toEqual(['InvalidJson', expect.stringContaining(NDJSON)])
    expect(refused(`[${text}`, JSON_TYPE)[0]).toBe('InvalidJson')
    expect(refused('ff', NDJSON, { isBase64Encoded: true, body: '/w==' })[0]).toBe('InvalidJson')
    expect(refused(`"${'x'.repeat(6_000_000)}"`, NDJSON)).toEqual([
      'PayloadTooLarge',
      'The body exceeds the limit of 6000000 bytes. Split the batch into several.',
    ])
  })
})

const MAX = 6 * 1024 * 1024

/** Of what is beside the body: less than this. */
const CONTEXT = 10_000

const invocation = (body: string) => assertFitsInvocation({ body } as APIGatewayProxyEvent)

const result = (body: string) => assertFitsResult({ statusCode: 200, body } as APIGatewayProxyResult)

/** A text, and the bytes that each repetition of it takes in a string of JSON. */
it.each([
  ['"', 2],
  ['\\', 2],
  ['\n', 2],
  ['a', 1],
  ['ä', 2],
  ['😀', 4],
])('a body of %j is too large when Lambda would not pass it on, and not before', (text, bytes) => {
  const tooLarge = text.repeat(Math.ceil(MAX / bytes))
  const fits = text.repeat(Math.floor((MAX - CONTEXT) / bytes))
  for (const check of [invocation, result]) {
    expect(() => check(tooLarge)).toThrow(expect.objectContaining({ code: 'PayloadTooLarge' }))
    expect(() => check(fits)).not.toThrow()
  }
})
