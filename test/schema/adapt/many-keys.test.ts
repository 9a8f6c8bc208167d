import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { countReads } from '../../support/data/count-reads.ts'

const fieldMap = {
  text: { type: 'string' },
  limit: { type: 'integer', default: 5 },
  list: { type: 'array', items: { type: 'integer' }, required: false },
  rows: {
    type: 'array',
    required: false,
    items: { type: 'object', properties: { id: { type: 'integer' } } },
  },
}
const dictionary = {
  type: 'object',
  properties: { text: { type: 'string' } },
  additionalProperties: { type: 'integer' },
}

const keys = (count: number, value: number | string): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, value]))

describe('compileAdapter, many keys', () => {
  it('leaves an object with more than 1,000 unknown keys as sent', () => {
    const adapt = compileAdapter(fieldMap)
    const sent = { Text: 'a', list: ['1'], ...keys(999, 1) }
    expect(adapt(sent).input).toMatchObject({ text: 'a', list: [1], limit: 5 })
    const tooMany = { ...sent, more: 1 }
    expect(adapt(tooMany)).toEqual({ input: tooMany, adaptations: [] })
    expect(
      adapt({ text: 'a', rows: [{ ID: '1', ...keys(1_000, 1) }, { ID: '2' }] }).input.rows,
    ).toMatchObject([{ ID: '1' }, { id: 2 }])
  })

  it('adapts every value of a dictionary, however many it has', () => {
    const { input } = compileAdapter(dictionary)({ text: 'a', ...keys(5_000, '1') })
    expect(input).toEqual({ text: 'a', ...keys(5_000, 1) })
  })
})

describe('compileAdapter, large inputs', () => {
  const repeat = <T>(count: number, make: (index: number) => T): T[] =>
    Array.from({ length: count }, (_, i) => make(i))
  const kinds: [string, JsonObject, (count: number) => JsonObject][] = [
    ['converted items', fieldMap, (count) => ({ text: 'a', list: repeat(count, (i) => `${i}`) })],
    ['misspelled names', fieldMap, (count) => ({ text: 'a', rows: repeat(count, (i) => ({ ID: `${i}` })) })],
    ['values of a dictionary', dictionary, (count) => ({ text: 'a', ...keys(count, '1') })],
    ['unknown keys', dictionary, (count) => ({ text: 'a', ...keys(count, 1) })],
  ]

  it.each(kinds)('reads %s a number of times that is linear in their number', (_, schema, make) => {
    const adapt = compileAdapter(schema)
    const readsOf = (count: number) => {
      let reads = 0
      adapt(countReads(make(count), () => reads++))
      return reads
    }
    expect(readsOf(4_000)).toBeLessThanOrEqual(2.1 * readsOf(2_000))
  })
})
