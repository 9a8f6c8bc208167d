import type { JsonObject } from '../../../lib/core/json/json.ts'
import { integer, object, text } from '../validate/violation-cases.ts'
import { type Group, group, parsed, unchanged } from './adapt-case.ts'
import { listOf } from './cases/case-group.ts'

const openObject = (additionalProperties: true | JsonObject) =>
  object({ artistName: text, count: integer }, { required: ['artistName'], additionalProperties })

export const jsonSchemaCases: Group[] = [
  group('additionalProperties: true', openObject(true), [
    unchanged({ artstName: 'x' }),
    unchanged({ artistName: 'x', Count: 1 }),
  ]),
  group('additionalProperties with a schema', object({ name: text }, { additionalProperties: integer }), [
    [{ a: '1', B: 2 }, { a: 1, B: 2 }, ['converted /a from string']],
    [parsed('{"__proto__": "1"}'), parsed('{"__proto__": 1}'), ['converted /__proto__ from string']],
  ]),
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
      unchanged({ input: { line_2: 'x', line2: 1 } }),
    ],
  },
  group('additionalProperties with an empty schema', openObject({}), [
    [{ data: { artistName: 'x' } }, { artistName: 'x' }, ['unwrapped /data -> ']],
  ]),
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
      [{ either: 'true' }, { either: true }, ['converted /either from string']],
      [{ either: '1' }, { either: 1 }, ['converted /either from string']],
      unchanged({ one: '3' }),
      [{ one: 'x' }, { one: ['x'] }, ['converted /one from string']],
    ],
  },
  group('a recursive schema', object({ n: integer, child: { $ref: '#' }, list: listOf({ $ref: '#' }) }), [
    [
      { list: [{ list: [{ N: 1 }] }] },
      { list: [{ list: [{ n: 1 }] }] },
      ['renamed /list/0/list/0/N -> /list/0/list/0/n'],
    ],
  ]),
  group('a default in itself', object({ child: { $ref: '#', default: {} }, n: { ...integer, default: 1 } }), [
    [{}, { n: 1 }, ['defaulted /n']],
    [{ child: {} }, { child: { n: 1 }, n: 1 }, ['defaulted /child/n', 'defaulted /n']],
  ]),
  {
    title: 'a schema or null',
    schema: object({
      point: { anyOf: [object({ x: integer }), { type: 'null' }], default: null },
      count: { oneOf: [{ type: 'null' }, integer] },
    }),
    cases: [
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
    cases: [unchanged({ any: '3' }), unchanged({ one: { 'a-name': 'x' } })],
  },
  {
    title: 'minimal schemas',
    schema: object({ any: {}, yes: true, untyped: { properties: { n: integer } }, never: false }),
    cases: [[{ untyped: { n: '1' } }, { untyped: { n: 1 } }, ['converted /untyped/n from string']]],
  },
]
