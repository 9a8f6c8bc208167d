import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../lib/core/json/json.ts'
import { compileAdapter } from '../../../lib/schema/adapt/adapt-input.ts'
import { medianCpuTimes } from '../../support/processes/cpu-time.ts'

const fieldMap = {
  text: { type: 'string' },
  artistName: { type: 'string', required: false },
  list: { type: 'array', items: { type: 'integer' }, required: false },
  rows: {
    type: 'array',
    required: false,
    items: {
      type: 'object',
      properties: {
        id: { type: 'integer' },
        name: { type: 'string' },
        ok: { type: 'boolean', default: true },
      },
    },
  },
}
const openObject = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const dictionary = { ...openObject, additionalProperties: { type: 'integer' } }

const repeat = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
const keys = (count: number, value: number | string): JsonObject =>
  Object.fromEntries(repeat(count, (i) => [`key${i}`, value]))

/** Inputs of about a number of bytes. */
const kinds: [string, JsonObject, (bytes: number) => JsonObject][] = [
  ['converted items', fieldMap, (bytes) => ({ text: 'a', list: repeat(bytes / 8, (i) => `${i}`) })],
  [
    'misspelled names in a list',
    fieldMap,
    (bytes) => ({ text: 'a', rows: repeat(bytes / 28, (i) => ({ ID: `${i}`, nam: 'x' })) }),
  ],
  [
    'different names similar to a field',
    fieldMap,
    (bytes) => ({
      text: 'a',
      rows: repeat(bytes / 3_000, (row) =>
        Object.fromEntries(
          repeat(190, (i) => [`artistN${String.fromCharCode(97 + (i % 26))}${row * 190 + i}`, 1]),
        ),
      ),
    }),
  ],
  ['a number of many digits', fieldMap, (bytes) => ({ text: 'a', list: [`1${'0'.repeat(bytes)}1`] })],
]

/** Processor time has a resolution of some milliseconds. */
const REPETITIONS = 3

describe('compileAdapter, large inputs', () => {
  it.each(kinds)('takes time linear in the size: %s', { retry: 3 }, (_, schema, make) => {
    const adapt = compileAdapter(schema)
    // Ten small inputs and one large one: the same number of bytes, and of cache misses.
    const [small = 0, large = 0] = medianCpuTimes([100_000, 1_000_000], (bytes) => {
      const inputs = repeat(1_000_000 / bytes, () => make(bytes))
      return () => void inputs.map((input) => adapt(input))
    })
    expect(large).toBeLessThanOrEqual(1.1 * Math.max(small, 10))
  })

  it.each([
    ['unknown keys in a closed object', fieldMap, 1],
    ['unknown keys in an open object', openObject, 1],
    ['converted values of a dictionary', dictionary, '1'],
  ])('takes time linear in the number of %s', { retry: 3 }, (_, schema, value) => {
    const adapt = compileAdapter(schema)
    const growth = (run: (input: JsonObject) => unknown) => {
      const [small = 0, large = 0] = medianCpuTimes([1_000_000, 2_000_000], (bytes) => {
        const input = { text: 'a', ...keys(bytes / 12, value) }
        return () => void repeat(REPETITIONS, () => run(input))
      })
      return large / small
    }
    // V8 itself takes more than linear time to list the keys of a large object, depending on the processor's caches.
    expect(growth(adapt)).toBeLessThanOrEqual(1.25 * Math.max(growth(Object.keys), 2))
  })
})
