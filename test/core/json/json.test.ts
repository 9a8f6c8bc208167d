import { describe, expect, it } from 'vitest'
import { isJsonObject, isWithinDepth, MAX_JSON_DEPTH } from '../../../lib/core/json/json.ts'

const nested = (levels: number) => {
  let value: unknown = 1
  for (let i = 0; i < levels; i++) value = i % 2 ? { a: value } : [value]
  return value
}

describe('isWithinDepth', () => {
  it('allows exactly the limit', () => {
    expect(isWithinDepth(nested(MAX_JSON_DEPTH))).toBe(true)
    expect(isWithinDepth(nested(MAX_JSON_DEPTH + 1))).toBe(false)
  })

  it('does not overflow the stack on deeply nested values', () => {
    expect(isWithinDepth(nested(1_000_000))).toBe(false)
  })
})

describe('isJsonObject', () => {
  it.each([null, [], 'a', 1, true, undefined])('rejects %j', (value) =>
    expect(isJsonObject(value)).toBe(false),
  )
  it('accepts an object', () => expect(isJsonObject({})).toBe(true))
})
