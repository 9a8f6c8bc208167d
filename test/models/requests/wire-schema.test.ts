import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import { toWireSchema } from '../../../lib/models/requests/wire-schema.ts'

// Creating a validator takes longer than compiling a schema.
const ajv = new Ajv2020({ strict: false, logger: false })
const validates = (schema: JsonObject, value: Json) => ajv.compile(schema)(value)

const text = { type: 'string' }

describe('toWireSchema', () => {
  it('leaves a schema that providers accept as it is', () => {
    const schema = { type: 'object', properties: { 'a.b-c_1': text }, required: ['a.b-c_1'] }
    const wire = toWireSchema(schema)
    expect(wire.schema).toEqual(schema)
    expect(wire.convertsInputs).toBe(false)
    expect(toWireSchema(schema)).toBe(wire)
  })

  it('renames property keys, tells the model their names, and converts inputs in both directions', () => {
    const key = 'x'.repeat(65)
    const wire = toWireSchema({
      type: 'object',
      properties: {
        größe: { type: 'number', description: 'In cm.' },
        'größe 2': text,
        groWe: text,
        '$filter[name]': {
          type: 'array',
          items: { type: 'object', properties: { 名: text }, required: ['名'] },
        },
        [key]: text,
      },
      required: ['größe', key],
      dependentRequired: { größe: ['größe 2'] },
    })
    const long = `${'x'.repeat(60)}_2`
    const names = Object.keys(wire.schema.properties as JsonObject)
    expect(names).toEqual(['gro_e', 'gro_e_2', 'groWe', '_filter_name_', long])
    expect(wire.schema).toMatchObject({
      properties: {
        gro_e: { description: 'größe: In cm.' },
        gro_e_2: { description: 'größe 2' },
        _filter_name_: { items: { properties: { _: { description: '名' } }, required: ['_'] } },
      },
      required: ['gro_e', long],
      dependentRequired: { gro_e: ['gro_e_2'] },
    })
    const input = { größe: 1, 'größe 2': 'c', '$filter[name]': [{ 名: 'a' }], [key]: 'b' }
    const sent = { gro_e: 1, gro_e_2: 'c', _filter_name_: [{ _: 'a' }], [long]: 'b' }
    expect(wire.encode(input)).toEqual(sent)
    expect(wire.decode(sent)).toEqual(input)
    expect(validates(wire.schema, sent)).toBe(true)
  })

  it('never renames two keys to the same one, or to one that is declared', () => {
    const names = ['a b', 'a_b', 'a/b', 'ä b']
    const properties = Object.fromEntries(names.map((name) => [name, text]))
    const { schema, encode, decode } = toWireSchema({ type: 'object', properties })
    expect(new Set(Object.keys(schema.properties as JsonObject)).size).toBe(names.length)
    const input = Object.fromEntries(names.map((name) => [name, name]))
    expect(decode(encode(input))).toEqual(input)
  })

  it.each<[string, JsonObject, Json, Json]>([
    ['anyOf', { anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 'x' }, { c: 'x' }],
    ['allOf', { allOf: [{ properties: { a: text } }, { required: ['a'] }] }, { a: 'x' }, {}],
    ['oneOf', { oneOf: [{ required: ['a'] }, { required: ['b'] }] }, { b: 1 }, { a: 1, b: 1 }],
    ['$ref', { $ref: '#/$defs/x', $defs: { x: { required: ['a'] } } }, { a: 1 }, { b: 1 }],
    ['if', { if: { required: ['a'] }, else: { required: ['b'] } }, { a: 1 }, { c: 1 }],
    [
      'anyOf and a reference to the root',
      { anyOf: [{ required: ['a'] }, { required: ['b'] }], properties: { b: { $ref: '#' } } },
      { b: { a: 1 } },
      { b: {} },
    ],
    [
      'anyOf and a reference to a renamed property',
      { anyOf: [{ required: ['a'] }], properties: { 'ä/1': text, a: { $ref: '#/properties/%C3%A4~11' } } },
      { a: 'x' },
      { a: 1 },
    ],
  ])('makes a schema with %s at the root a property of an object', (_, keywords, valid, invalid) => {
    const declared = { type: 'object', ...keywords }
    const wire = toWireSchema(declared)
    for (const keyword of ['anyOf', 'allOf', 'oneOf', '$ref', 'if', 'not'])
      expect(wire.schema).not.toHaveProperty([keyword])
    expect(wire.schema.type).toBe('object')
    for (const value of [valid, invalid]) {
      expect(validates(wire.schema, wire.encode(value))).toBe(validates(declared, value))
      expect(wire.decode(wire.encode(value))).toEqual(value)
    }
    expect(validates(declared, valid)).toBe(true)
    expect(validates(declared, invalid)).toBe(false)
    expect(wire.decode(valid)).toEqual(valid)
  })

  it('replaces boolean subschemas where providers require objects', () => {
    const { schema } = toWireSchema({
      type: 'object',
      properties: { any: true, none: false, list: { type: 'array', items: true } },
      patternProperties: { '^x': true },
      additionalProperties: false,
      propertyNames: { pattern: '^[a-z]' },
    })
    expect(schema).toEqual({
      type: 'object',
      properties: { any: {}, none: { not: {} }, list: { type: 'array', items: {} } },
      patternProperties: { '^x': {} },
      additionalProperties: false,
      propertyNames: { pattern: '^[a-z]', type: 'string' },
    })
  })

  it('gives a schema without properties an empty object of them', () => {
    expect(toWireSchema({ type: 'object' }).schema).toEqual({ type: 'object', properties: {} })
  })

  it('renames keys in defaults and enums', () => {
    const { schema } = toWireSchema({
      type: 'object',
      properties: { o: { type: 'object', properties: { é: text }, default: { é: 'x' }, enum: [{ é: 'x' }] } },
    })
    expect(schema).toMatchObject({ properties: { o: { default: { e: 'x' }, enum: [{ e: 'x' }] } } })
  })

  it('converts every input back to what it was', () => {
    const keys = fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(keys, fc.boolean(), (names, isComposed) => {
        const properties = Object.fromEntries(names.map((name) => [name, { type: 'object' }]))
        const declared = { type: 'object', properties, ...(isComposed && { allOf: [{ required: names }] }) }
        const { schema, encode, decode } = toWireSchema(declared)
        const input = Object.fromEntries(names.map((name) => [name, { [name]: [name] }]))
        expect(decode(encode(input))).toEqual(input)
        expect(validates(schema, encode(input))).toBe(true)
        expect(JSON.stringify(Object.keys(schema.properties as JsonObject))).toMatch(
          /^\[("[\w.-]{1,64}",?)*\]$/,
        )
      }),
    )
  })
})
