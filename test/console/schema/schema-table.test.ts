import { describe, expect, it } from 'vitest'
import { schemaRows } from '../../../console/schema/schema-table.tsx'
import type { JsonObject } from '../../../lib/core/json/json.ts'

const linesOf = (schema: JsonObject) =>
  schemaRows(schema).map(
    ({ depth, name, type, isRequired, rules }) =>
      `${'  '.repeat(depth)}${name}${isRequired ? '*' : ''}: ${type}${rules.length > 0 ? ` (${rules.join('; ')})` : ''}`,
  )

describe('schemaRows', () => {
  it('lists the fields of a field map with their bounds', () => {
    expect(
      linesOf({
        text: { type: 'string', minLength: 1, maxLength: 80 },
        level: { type: 'string', enum: ['low', 'high'], default: 'low' },
        when: { type: 'string', format: 'date', required: false },
        size: { type: 'number', minimum: 0, required: false },
        tags: { type: 'array', maxItems: 5, items: { type: 'string', maxLength: 9 } },
      }),
    ).toEqual([
      'text*: string (1 to 80 characters)',
      'level: string (one of "low", "high"; default "low")',
      'when: string (date such as 2026-01-31)',
      'size: number (at least 0)',
      'tags*: array of string (at most 5 items)',
      '  each item: string (at most 9 characters)',
    ])
  })

  it('lists files without their parts', () => {
    const schema = {
      scan: { type: 'file', mediaTypes: ['application/pdf'], maxBytes: 2_000_000 },
      photos: { type: 'array', maxItems: 2, items: { type: 'file', mediaTypes: ['image/png'] } },
    }
    expect(linesOf(schema as unknown as JsonObject)).toEqual([
      'scan*: file (application/pdf; at most 2.0 MB)',
      'photos*: array of file (at most 2 items)',
      '  each item: file (image/png; at most 4.5 MB)',
    ])
  })

  it('follows references and names null', () => {
    expect(
      linesOf({
        type: 'object',
        $defs: { id: { type: 'string', format: 'uuid' } },
        required: ['a'],
        properties: {
          a: { $ref: '#/$defs/id', description: 'The id.' },
          b: { anyOf: [{ $ref: '#/$defs/id' }, { type: 'null' }] },
          c: { type: ['integer', 'null'], exclusiveMinimum: 0 },
        },
      }),
    ).toEqual(['a*: string (UUID)', 'b: string or null (UUID)', 'c: integer or null (greater than 0)'])
  })

  it('lists alternatives, tuples, maps and the fields of items', () => {
    expect(
      linesOf({
        type: 'object',
        properties: {
          union: { oneOf: [{ type: 'string' }, { type: 'object', properties: { x: { const: 1 } } }] },
          pair: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'boolean' }], items: false },
          map: { type: 'object', additionalProperties: { type: 'integer' } },
          stops: { type: 'array', items: { type: 'object', properties: { map: { type: 'string' } } } },
        },
      }),
    ).toEqual([
      'union: see below',
      '  one of: 1: string',
      '  one of: 2: object',
      '    x: value (always 1)',
      'pair: array',
      '  item 1: number',
      '  item 2: boolean',
      'map: object',
      '  other names: integer',
      'stops: array of object',
      '  map: string',
    ])
  })

  it('ends for a schema that contains itself', () => {
    const node = {
      type: 'object',
      properties: {
        children: { type: 'array', items: { $ref: '#' } },
        next: { anyOf: [{ $ref: '#' }, { type: 'null' }] },
      },
    }
    expect(linesOf(node).length).toBeLessThan(20)
    const list = { type: 'object', properties: { value: { $ref: '#/$defs/value' } } }
    const value = { anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/$defs/value' } }] }
    expect(linesOf({ ...list, $defs: { value } }).length).toBeLessThan(501)
  })
})
