import { describe, expect, it } from 'vitest'
import { describeField, initialValue } from '../../../console/schema/form/field.ts'
import { printJson } from '../../../console/schema/json-edit.ts'
import { openSchema } from '../../../console/schema/schema-view.ts'
import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import { toFileSchema } from '../../../lib/schema/files/file-schema.ts'

function kindOf(part: Json, defs: JsonObject = {}): string {
  const view = openSchema({ type: 'object', properties: { part }, $defs: defs })
  const field = describeField((view.root.properties as JsonObject).part, view)
  return `${field.kind}${field.isNullable ? ' or null' : ''}`
}

describe('describeField', () => {
  it.each<[string, Json]>([
    ['text', { type: 'string' }],
    ['number', { type: 'integer', minimum: 1 }],
    ['choice', { type: 'string', enum: ['a', 'b'] }],
    ['choice', { const: 1 }],
    ['file', toFileSchema({})],
    ['file or null', { anyOf: [toFileSchema({}), { type: 'null' }] }],
    ['text or null', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    ['text', { $ref: '#/$defs/name', description: 'A name.' }],
    ['choice or null', { oneOf: [{ enum: [1, 2] }, { type: 'null' }] }],
    ['json', { anyOf: [{ type: 'string' }, { type: 'number' }] }],
    ['json', { allOf: [{ type: 'string' }] }],
    ['json', { type: ['string', 'number'] }],
    ['json', { type: 'object' }],
    ['json', { type: 'object', properties: { a: {} }, additionalProperties: { type: 'string' } }],
    ['json', { type: 'array', prefixItems: [{ type: 'string' }] }],
    ['json', { $ref: '#/$defs/missing' }],
  ])('is %s for %j', (kind, part) => expect(kindOf(part, { name: { type: 'string' } })).toBe(kind))
})

describe('initialValue', () => {
  const initial = (schema: JsonObject) => {
    const view = openSchema(schema)
    const value = initialValue(view.root, view)
    return value && printJson(value, null)
  }

  it('has defaults, and the containers that are required', () => {
    expect(
      initial({
        text: { type: 'string' },
        level: { type: 'string', default: 'low' },
        size: { type: 'number', default: 0.5, required: false },
        home: {
          type: 'object',
          properties: { city: { type: 'string' }, zip: { type: 'integer', default: 1 } },
        },
        work: { type: 'object', required: false, properties: { city: { type: 'string', default: 'Oslo' } } },
        tags: { type: 'array', items: { type: 'string' } },
        stops: {
          type: 'array',
          minItems: 1,
          items: { type: 'object', properties: { n: { type: 'integer', default: 2 } } },
        },
      }),
    ).toBe('{"level":"low","size":0.5,"home":{"zip":1},"tags":[],"stops":[{"n":2}]}')
  })

  it('ends for a schema that requires itself', () => {
    expect(
      initial({ type: 'object', required: ['next'], properties: { next: { $ref: '#' } } })?.length,
    ).toBeLessThan(500)
  })
})
