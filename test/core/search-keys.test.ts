import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { parseJson } from '../../lib/core/json/parse-json.ts'
import { type DeclaredKey, hasKey, parseKeyFilter, readKeys } from '../../lib/core/search-keys.ts'

const KEY: DeclaredKey = { name: 'id', from: 'input', pointer: '/id' }
const read = (json: string) => readKeys([KEY], 'input', parseJson(json) as JsonObject)[0]?.value

describe('readKeys', () => {
  it.each([
    ['{"id":" O-13\\n"}', 'O-13'],
    ['{"id":"a\\u0000\\nb"}', 'a b'],
    ['{"id":"e\\u0301"}', 'é'],
    ['{"id":"\\ud800x"}', '\ufffdx'],
    ['{"id":1300}', '1300'],
    ['{"id":-0.5}', '-0.5'],
    ['{"id":12345678901234567890}', '12345678901234567890'],
    ['{"id":false}', 'false'],
    ['{"id":""}', undefined],
    ['{"id":" \\t"}', undefined],
    ['{"id":null}', undefined],
    ['{"id":["O-13"]}', undefined],
    ['{"id":{"a":1}}', undefined],
    ['{}', undefined],
  ])('reads %s', (json, expected) => {
    expect(read(json)).toBe(expected)
  })

  it('cuts after 128 code points, not within one', () => {
    expect(read(JSON.stringify({ id: '😀'.repeat(200) }))).toBe('😀'.repeat(128))
    expect(read(JSON.stringify({ id: `${'a'.repeat(127)} b` }))).toBe('a'.repeat(127))
  })

  it('follows pointers into own members and items only', () => {
    const value = { id: 'abc', items: ['a', { 'a/b': 'x' }] }
    const at = (pointer: string) => readKeys([{ ...KEY, pointer }], 'input', value)[0]?.value
    expect(at('/items/1/a~1b')).toBe('x')
    for (const pointer of ['/constructor/name', '/id/length', '/items/length', '/items/2'])
      expect(at(pointer)).toBeUndefined()
  })

  it('keeps the digits of a number that adaptation has rounded', () => {
    const sent = parseJson('{"id":9007199254740993}') as JsonObject
    expect(readKeys([KEY], 'input', { id: 9007199254740992 }, sent)).toEqual([
      { name: 'id', value: '9007199254740993' },
    ])
  })

  it('reads nothing without declarations, or from the other side', () => {
    expect(readKeys(undefined, 'input', { id: 'x' })).toEqual([])
    expect(readKeys([KEY], 'output', { id: 'x' })).toEqual([])
  })
})

describe('parseKeyFilter', () => {
  it.each([
    ['id:O-13', 'O-13', false],
    ['id:O-13*', 'O-13', true],
    ['id:*', '', true],
    ['id:a:b*c', 'a:b*c', false],
    ['id:100%', '100%', false],
    ['id:a\\*', 'a*', false],
    ['id:a\\\\*', 'a\\*', false],
    ['id:a**', 'a*', true],
    ['id: e\u0301 ', 'é', false],
    ['id:New *', 'New ', true],
    ['id:a\nb', 'a b', false],
  ])('reads %j', (text, expected, isPrefix) => {
    expect(parseKeyFilter(text)).toEqual({ name: 'id', text: expected, isPrefix })
  })

  const LONG = `id:${'a'.repeat(129)}`
  it.each(['', ':', 'id', 'id:', 'id: ', ':x', '*:x', 'a b:x', '1:x', 'é:x', LONG])('refuses %j', (text) => {
    expect(parseKeyFilter(text)).toBeNull()
  })

  it('takes 20,000 asterisks in no time', () => {
    expect(parseKeyFilter(`id:${'*'.repeat(20_000)}x`)).toBeNull()
  })
})

it('hasKey compares the name, and the value exactly or by its prefix', () => {
  const keys = [{ name: 'id', value: 'O-13' }]
  const filters = ['id:O-13', 'id:O-*', 'id:*', 'id:O-1', 'id:o-13', 'ID:O-13', 'id:O-13x*']
  const matching = filters.filter((text) => hasKey(keys, parseKeyFilter(text) as never))
  expect(matching).toEqual(['id:O-13', 'id:O-*', 'id:*'])
})
