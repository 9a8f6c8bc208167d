import { describe, expect, it } from 'vitest'
import type { ServiceEvent } from '../../lib/http/event.ts'
import { jsonBody } from '../../lib/http/json-body.ts'

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

  it('ignores a byte order mark, and keeps keys that are special in JavaScript', () => {
    expect(parse({ body: '\ufeff{"text":"a"}' })).toEqual({ text: 'a' })
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
