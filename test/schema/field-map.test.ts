import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../lib/core/json/json.ts'
import { isJsonSchema, toJsonSchema } from '../../lib/schema/field-map.ts'

describe('isJsonSchema', () => {
  it('distinguishes a field named type from the keyword', () => {
    expect(isJsonSchema({ type: { type: 'string' } })).toBe(false)
    expect(isJsonSchema({ type: 'object' })).toBe(true)
    expect(isJsonSchema({ $schema: 'https://json-schema.org/draft/2020-12/schema', anyOf: [] })).toBe(true)
  })
})

describe('toJsonSchema', () => {
  it('requires every field without a default or required: false, at each level', () => {
    const fields = {
      a: { type: 'string' },
      b: { type: 'string', required: false },
      c: { type: 'integer', default: 3 },
      d: { type: 'object', properties: { e: { type: 'string' }, f: { type: 'string', required: false } } },
      g: { type: 'array', items: { type: 'object', properties: { h: { type: 'number' } } } },
    }
    expect(toJsonSchema(fields as unknown as JsonObject)).toMatchObject({
      required: ['a', 'd', 'g'],
      additionalProperties: false,
      properties: {
        d: { required: ['e'], additionalProperties: false },
        g: { items: { required: ['h'], additionalProperties: false } },
      },
    })
  })

  it('returns a JSON Schema unchanged', () => {
    const schema = { type: 'object', patternProperties: { '^x': {} } }
    expect(toJsonSchema(schema)).toBe(schema)
  })
})
