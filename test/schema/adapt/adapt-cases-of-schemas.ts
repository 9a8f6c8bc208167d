import type { Json, JsonObject } from '../../../lib/core/json.ts'
import { type Group, parsed, same } from './adapt-case.ts'

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
})

const integer = { type: 'integer' }
const text = { type: 'string' }

const nested = (value: Json, depth: number): Json =>
  Array.from({ length: depth }).reduce<Json>((inner) => ({ child: inner }), value)

/** Whole JSON Schemas. */
export const schemaCases: Group[] = [
  {
    title: 'a schema that leaves other fields open',
    schema: object({ artistName: text, count: integer }),
    cases: [
      [{ 'artist-name': 'x' }, { artistName: 'x' }, ['renamed /artist-name -> /artistName']],
      [{ artstName: 'x' }, { artistName: 'x' }, ['renamed /artstName -> /artistName']],
      [{ data: { count: 1 } }, { count: 1 }, ['unwrapped /data -> ']],
      same({ other: 1 }),
    ],
  },
  {
    title: 'a schema that takes other fields',
    schema: object(
      { artistName: text, count: integer },
      { required: ['artistName'], additionalProperties: true },
    ),
    cases: [
      [{ 'artist-name': 'x' }, { artistName: 'x' }, ['renamed /artist-name -> /artistName']],
      same({ artstName: 'x' }),
      same({ artistName: 'x', Count: 1 }),
      same({ data: { count: 1 } }),
      [{ data: { artistName: 'x' } }, { artistName: 'x' }, ['unwrapped /data -> ']],
      [{ artistName: 'x', count: '1' }, { artistName: 'x', count: 1 }, ['converted /count from a text']],
    ],
  },
  {
    title: 'a schema of other fields',
    schema: object({ name: text }, { additionalProperties: integer }),
    cases: [
      [{ a: '1', B: 2 }, { a: 1, B: 2 }, ['converted /a from a text']],
      same({ Name: 'x' }),
      [parsed('{"__proto__": "1"}'), parsed('{"__proto__": 1}'), ['converted /__proto__ from a text']],
    ],
  },
  {
    title: 'a schema of other fields, in which an envelope is one of them',
    schema: object(
      { line_2: text },
      {
        required: ['line_2'],
        additionalProperties: object({ line2: { ...integer, default: 1 } }, { required: [] }),
      },
    ),
    cases: [
      [{ input: {} }, { input: { line2: 1 } }, ['defaulted /input/line2']],
      same({ input: { line2: 1 } }),
      same({ input: { line_2: 'x', line2: 1 } }),
    ],
  },
  {
    title: 'an empty schema of other fields, which takes any',
    schema: object({ artistName: text }, { required: ['artistName'], additionalProperties: {} }),
    cases: [
      [{ data: { artistName: 'x' } }, { artistName: 'x' }, ['unwrapped /data -> ']],
      same({ data: { other: 'x' } }),
    ],
  },
  {
    title: 'fields by pattern',
    schema: object({ xName: text }, { patternProperties: { '^x-': integer }, additionalProperties: false }),
    cases: [
      same({ 'x-name': 'y' }),
      same({ 'x-a': '1' }),
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
      same({ maybe: null, count: null }),
      [{ maybe: 3 }, { maybe: '3' }, ['converted /maybe from a number']],
      [{ count: '3' }, { count: 3 }, ['converted /count from a text']],
      same({ count: 'null' }),
      [{ numeric: '3' }, { numeric: 3 }, ['converted /numeric from a text']],
      [{ either: 'true' }, { either: true }, ['converted /either from a text']],
      [{ either: '1' }, { either: 1 }, ['converted /either from a text']],
      same({ one: '3' }),
      [{ one: 'x' }, { one: ['x'] }, ['converted /one from a text']],
      same({ both: '{"a": 1}' }),
      [{ both: 3 }, { both: [3] }, ['converted /both from a number']],
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
        ['renamed /a/x-value -> /a/xValue', 'converted /a/xValue from a text'],
      ],
      [{ c: { x: '1' } }, { c: { x: 1 }, b: { x: 7 } }, ['converted /c/x from a text', 'defaulted /b']],
      [{ b: '{"x": 1}' }, { b: { x: 1 } }, ['converted /b from a text']],
    ],
  },
  {
    title: 'a schema that refers to itself',
    schema: object({ n: integer, child: { $ref: '#' }, list: { type: 'array', items: { $ref: '#' } } }),
    cases: [
      [
        nested({ n: '1' }, 3) as JsonObject,
        nested({ n: 1 }, 3) as JsonObject,
        ['converted /child/child/child/n from a text'],
      ],
      [
        nested({ n: '1' }, 99) as JsonObject,
        nested({ n: 1 }, 99) as JsonObject,
        [`converted ${'/child'.repeat(42)}/chi… from a text`],
      ],
      [{ list: { n: 1 } }, { list: [{ n: 1 }] }, ['converted /list from an object']],
      [
        { list: [{ list: [{ N: 1 }] }] },
        { list: [{ list: [{ n: 1 }] }] },
        ['renamed /list/0/list/0/N -> /list/0/list/0/n'],
      ],
    ],
  },
  {
    title: 'a list that refers to itself',
    schema: object(
      { tree: { $ref: '#/$defs/tree' } },
      { $defs: { tree: { type: 'array', items: { $ref: '#/$defs/tree' } } } },
    ),
    cases: [
      same({ tree: 1 }),
      same({ tree: [[1]] }),
      [{ tree: '[[]]' }, { tree: [[]] }, ['converted /tree from a text']],
    ],
  },
  {
    title: 'a default without end',
    schema: object({ child: { $ref: '#', default: {} }, n: { type: 'integer', default: 1 } }),
    cases: [
      [{}, { n: 1 }, ['defaulted /n']],
      [{ child: {} }, { child: { n: 1 }, n: 1 }, ['defaulted /child/n', 'defaulted /n']],
    ],
  },
  {
    title: 'references that go nowhere or round',
    schema: object(
      { a: { $ref: '#/$defs/a' } },
      { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
    ),
    cases: [same({ a: '1' })],
  },
  {
    title: 'a form or null',
    schema: object({
      point: { anyOf: [object({ x: integer }), { type: 'null' }], default: null },
      count: { oneOf: [{ type: 'null' }, integer] },
    }),
    cases: [
      same({ point: null, count: null }),
      [
        { point: { X: '1' } },
        { point: { x: 1 } },
        ['renamed /point/X -> /point/x', 'converted /point/x from a text'],
      ],
      [{ count: '3' }, { count: 3, point: null }, ['converted /count from a text', 'defaulted /point']],
    ],
  },
  {
    title: 'several forms',
    schema: object({
      any: { anyOf: [integer, { type: 'boolean' }] },
      one: { oneOf: [object({ aName: text }), object({ bName: text })] },
      all: { allOf: [object({ aName: text })] },
    }),
    cases: [same({ any: '3' }), same({ one: { 'a-name': 'x' } }), same({ all: { 'a-name': 'x' } })],
  },
  {
    title: 'forms beside fields',
    schema: object({ a: integer, b: integer }, { anyOf: [{ required: ['a'] }, { required: ['b'] }] }),
    cases: [[{ a: '1' }, { a: 1 }, ['converted /a from a text']], same({ A: 1 })],
  },
  {
    title: 'tuples',
    schema: object({ pair: { type: 'array', prefixItems: [text, integer], items: { type: 'boolean' } } }),
    cases: [
      [
        { pair: [1, '2', 'true'] },
        { pair: ['1', 2, true] },
        ['converted /pair/0 from a number', 'converted /pair/1 from a text', 'converted /pair/2 from a text'],
      ],
      same({ pair: 'x' }),
    ],
  },
  {
    title: 'schemas that say little',
    schema: object({ any: {}, yes: true, untyped: { properties: { n: integer } }, never: false }),
    cases: [
      same({ any: '3', yes: '3', never: '3' }),
      same({ untyped: '{"n": 1}' }),
      [{ untyped: { n: '1' } }, { untyped: { n: 1 } }, ['converted /untyped/n from a text']],
    ],
  },
  {
    title: 'no fields at all',
    schema: { type: 'object' },
    cases: [same({ input: { a: 1 } }), same({ a: '1' })],
  },
  {
    title: 'types do not hide other mistakes',
    schema: object({ n: { type: 'integer', minimum: 5 }, s: { type: 'string', minLength: 3 } }),
    cases: [
      [{ n: '3', s: 1 }, { n: 3, s: '1' }, ['converted /n from a text', 'converted /s from a number']],
      same({ n: 3 }),
    ],
  },
]
