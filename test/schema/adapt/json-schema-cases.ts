import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import { type Group, parsed, unchanged } from './adapt-case.ts'

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
})

const integer = { type: 'integer' }
const text = { type: 'string' }

const nested = (value: Json, depth: number): Json =>
  Array.from({ length: depth }).reduce<Json>((inner) => ({ child: inner }), value)

export const jsonSchemaCases: Group[] = [
  {
    title: 'a schema without additionalProperties',
    schema: object({ artistName: text, count: integer }),
    cases: [
      [{ 'artist-name': 'x' }, { artistName: 'x' }, ['renamed /artist-name -> /artistName']],
      [{ artstName: 'x' }, { artistName: 'x' }, ['renamed /artstName -> /artistName']],
      [{ data: { count: 1 } }, { count: 1 }, ['unwrapped /data -> ']],
      unchanged({ other: 1 }),
    ],
  },
  {
    title: 'additionalProperties: true',
    schema: object(
      { artistName: text, count: integer },
      { required: ['artistName'], additionalProperties: true },
    ),
    cases: [
      [{ 'artist-name': 'x' }, { artistName: 'x' }, ['renamed /artist-name -> /artistName']],
      unchanged({ artstName: 'x' }),
      unchanged({ artistName: 'x', Count: 1 }),
      unchanged({ data: { count: 1 } }),
      [{ data: { artistName: 'x' } }, { artistName: 'x' }, ['unwrapped /data -> ']],
      [{ artistName: 'x', count: '1' }, { artistName: 'x', count: 1 }, ['converted /count from string']],
    ],
  },
  {
    title: 'additionalProperties with a schema',
    schema: object({ name: text }, { additionalProperties: integer }),
    cases: [
      [{ a: '1', B: 2 }, { a: 1, B: 2 }, ['converted /a from string']],
      unchanged({ Name: 'x' }),
      [parsed('{"__proto__": "1"}'), parsed('{"__proto__": 1}'), ['converted /__proto__ from string']],
    ],
  },
  {
    title: 'additionalProperties with a schema that an envelope matches',
    schema: object(
      { line_2: text },
      {
        required: ['line_2'],
        additionalProperties: object({ line2: { ...integer, default: 1 } }, { required: [] }),
      },
    ),
    cases: [
      [{ input: {} }, { input: { line2: 1 } }, ['defaulted /input/line2']],
      unchanged({ input: { line2: 1 } }),
      unchanged({ input: { line_2: 'x', line2: 1 } }),
    ],
  },
  {
    title: 'additionalProperties with an empty schema',
    schema: object({ artistName: text }, { required: ['artistName'], additionalProperties: {} }),
    cases: [
      [{ data: { artistName: 'x' } }, { artistName: 'x' }, ['unwrapped /data -> ']],
      unchanged({ data: { other: 'x' } }),
    ],
  },
  {
    title: 'patternProperties',
    schema: object({ xName: text }, { patternProperties: { '^x-': integer }, additionalProperties: false }),
    cases: [
      unchanged({ 'x-name': 'y' }),
      unchanged({ 'x-a': '1' }),
      [{ X_Name: 'y' }, { xName: 'y' }, ['renamed /X_Name -> /xName']],
    ],
  },
  {
    title: 'several types',
    schema: object({
      maybe: { type: ['string', 'null'] },
      count: { type: ['integer', 'null'] },
      numeric: { type: ['integer', 'number'] },
      either: { type: ['integer', 'boolean'] },
      one: { type: ['integer', 'array'] },
      both: { type: ['object', 'array'] },
    }),
    cases: [
      unchanged({ maybe: null, count: null }),
      [{ maybe: 3 }, { maybe: '3' }, ['converted /maybe from number']],
      [{ count: '3' }, { count: 3 }, ['converted /count from string']],
      unchanged({ count: 'null' }),
      [{ numeric: '3' }, { numeric: 3 }, ['converted /numeric from string']],
      [{ either: 'true' }, { either: true }, ['converted /either from string']],
      [{ either: '1' }, { either: 1 }, ['converted /either from string']],
      unchanged({ one: '3' }),
      [{ one: 'x' }, { one: ['x'] }, ['converted /one from string']],
      unchanged({ both: '{"a": 1}' }),
      [{ both: 3 }, { both: [3] }, ['converted /both from number']],
    ],
  },
  {
    title: 'references',
    schema: object(
      {
        a: { $ref: '#/$defs/point' },
        b: { $ref: '#point', default: { x: '7' } },
        c: { $ref: '#/$defs/alias' },
      },
      {
        $defs: {
          point: object({ xValue: integer, x: integer }, { $anchor: 'point' }),
          alias: { $ref: '#/$defs/point', description: 'a point' },
        },
      },
    ),
    cases: [
      [
        { a: { 'x-value': '1' }, b: { x: 1 } },
        { a: { xValue: 1 }, b: { x: 1 } },
        ['renamed /a/x-value -> /a/xValue', 'converted /a/xValue from string'],
      ],
      [{ c: { x: '1' } }, { c: { x: 1 }, b: { x: 7 } }, ['converted /c/x from string', 'defaulted /b']],
      [{ b: '{"x": 1}' }, { b: { x: 1 } }, ['converted /b from string']],
    ],
  },
  {
    title: 'a recursive schema',
    schema: object({ n: integer, child: { $ref: '#' }, list: { type: 'array', items: { $ref: '#' } } }),
    cases: [
      [
        nested({ n: '1' }, 3) as JsonObject,
        nested({ n: 1 }, 3) as JsonObject,
        ['converted /child/child/child/n from string'],
      ],
      [
        nested({ n: '1' }, 99) as JsonObject,
        nested({ n: 1 }, 99) as JsonObject,
        [`converted ${'/child'.repeat(42)}/chi… from string`],
      ],
      [{ list: { n: 1 } }, { list: [{ n: 1 }] }, ['converted /list from object']],
      [
        { list: [{ list: [{ N: 1 }] }] },
        { list: [{ list: [{ n: 1 }] }] },
        ['renamed /list/0/list/0/N -> /list/0/list/0/n'],
      ],
    ],
  },
  {
    title: 'a recursive array',
    schema: object(
      { tree: { $ref: '#/$defs/tree' } },
      { $defs: { tree: { type: 'array', items: { $ref: '#/$defs/tree' } } } },
    ),
    cases: [
      unchanged({ tree: 1 }),
      unchanged({ tree: [[1]] }),
      [{ tree: '[[]]' }, { tree: [[]] }, ['converted /tree from string']],
    ],
  },
  {
    title: 'a default that contains itself',
    schema: object({ child: { $ref: '#', default: {} }, n: { type: 'integer', default: 1 } }),
    cases: [
      [{}, { n: 1 }, ['defaulted /n']],
      [{ child: {} }, { child: { n: 1 }, n: 1 }, ['defaulted /child/n', 'defaulted /n']],
    ],
  },
  {
    title: 'unresolvable and circular references',
    schema: object(
      { a: { $ref: '#/$defs/a' } },
      { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    ),
    cases: [unchanged({ a: '1' })],
  },
  {
    title: 'a schema or null',
    schema: object({
      point: { anyOf: [object({ x: integer }), { type: 'null' }], default: null },
      count: { oneOf: [{ type: 'null' }, integer] },
    }),
    cases: [
      unchanged({ point: null, count: null }),
      [
        { point: { X: '1' } },
        { point: { x: 1 } },
        ['renamed /point/X -> /point/x', 'converted /point/x from string'],
      ],
      [{ count: '3' }, { count: 3, point: null }, ['converted /count from string', 'defaulted /point']],
    ],
  },
  {
    title: 'several alternatives',
    schema: object({
      any: { anyOf: [integer, { type: 'boolean' }] },
      one: { oneOf: [object({ aName: text }), object({ bName: text })] },
      all: { allOf: [object({ aName: text })] },
    }),
    cases: [
      unchanged({ any: '3' }),
      unchanged({ one: { 'a-name': 'x' } }),
      unchanged({ all: { 'a-name': 'x' } }),
    ],
  },
  {
    title: 'alternatives next to properties',
    schema: object({ a: integer, b: integer }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
    cases: [[{ a: '1' }, { a: 1 }, ['converted /a from string']], unchanged({ A: 1 })],
  },
  {
    title: 'prefixItems',
    schema: object({ pair: { type: 'array', prefixItems: [text, integer], items: { type: 'boolean' } } }),
    cases: [
      [
        { pair: [1, '2', 'true'] },
        { pair: ['1', 2, true] },
        ['converted /pair/0 from number', 'converted /pair/1 from string', 'converted /pair/2 from string'],
      ],
      unchanged({ pair: 'x' }),
    ],
  },
  {
    title: 'minimal schemas',
    schema: object({ any: {}, yes: true, untyped: { properties: { n: integer } }, never: false }),
    cases: [
      unchanged({ any: '3', yes: '3', never: '3' }),
      unchanged({ untyped: '{"n": 1}' }),
      [{ untyped: { n: '1' } }, { untyped: { n: 1 } }, ['converted /untyped/n from string']],
    ],
  },
  {
    title: 'a schema without fields',
    schema: { type: 'object' },
    cases: [unchanged({ input: { a: 1 } }), unchanged({ a: '1' })],
  },
  {
    title: 'a conversion to an invalid value',
    schema: object({ n: { type: 'integer', minimum: 5 }, s: { type: 'string', minLength: 3 } }),
    cases: [
      unchanged({ n: '3', s: 1 }),
      unchanged({ n: 3 }),
      [{ n: '5', s: 100 }, { n: 5, s: '100' }, ['converted /n from string', 'converted /s from number']],
    ],
  },
]
