import { describe, expect, it } from 'vitest'
import { sampleInput } from '../../../console/overview/sample-input.ts'
import type { JsonObject } from '../../../lib/core/json/json.ts'

const propertyOf = (schema: JsonObject) => sampleInput({ value: schema })?.value

describe('sampleInput', () => {
  it('has every field that is required or has a default, and no other', () => {
    expect(
      sampleInput({
        text: { type: 'string' },
        note: { type: 'string', required: false },
        tags: { type: 'array', items: { type: 'string' } },
        address: { type: 'object', properties: { city: { type: 'string' }, zip: { type: 'string' } } },
      }),
    ).toMatchObject({ text: expect.stringContaining('ada@example.com'), tags: [] })
    expect(sampleInput({ note: { type: 'string', required: false } })).toEqual({})
    expect(sampleInput({})).toEqual({})
  })

  it.each([
    [{ type: 'string', default: 'chat' }, 'chat'],
    [{ type: 'string', enum: ['low', 'high'] }, 'low'],
    [{ type: 'string', examples: ['A-1'] }, 'A-1'],
    [{ type: 'string', format: 'email' }, 'ada@example.com'],
    [{ type: 'string', maxLength: 5 }, 'Write'],
    [{ type: 'integer', minimum: 400 }, 400],
    [{ type: 'number', maximum: 0 }, 0],
    [{ type: 'integer', exclusiveMinimum: 3, maximum: 9 }, 4],
    [{ type: 'integer', multipleOf: 5, minimum: 7 }, 10],
    [{ type: 'boolean' }, true],
    [{ type: 'array', items: { type: 'integer' }, minItems: 2 }, [1, 1]],
  ] as [JsonObject, unknown][])('of %j is %j', (schema, value) => {
    expect(propertyOf(schema)).toEqual(value)
  })

  it.each([
    { type: 'string', pattern: '^[A-Z]-\\d+$' },
    { type: 'file', mediaTypes: ['application/pdf'] },
    { type: 'integer', minimum: 3, maximum: 2 },
  ] as JsonObject[])('is null if only a person can choose: %j', (schema) => {
    expect(sampleInput({ value: schema })).toBeNull()
  })
})
