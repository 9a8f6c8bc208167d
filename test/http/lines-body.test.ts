import { describe, expect, it, vi } from 'vitest'
import type { ServiceEvent } from '../../lib/http/event.ts'
import { readLines } from '../../lib/http/lines-body.ts'

const NDJSON = 'application/x-ndjson'
const JSON_TYPE = 'application/json'

const read = (body: string, type?: string, more: object = {}) =>
  readLines({
    headers: type === undefined ? {} : { 'content-type': type },
    body,
    isBase64Encoded: false,
    ...more,
  } as unknown as ServiceEvent)
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
