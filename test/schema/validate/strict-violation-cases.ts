import type { JsonObject } from '../../../lib/core/json/json.ts'
import { type Group, integer, object, text } from './violation-cases.ts'

/** Values that only strict mode rejects. */
export const strictGroups: Group[] = [
  {
    title: 'a schema without additionalProperties',
    schema: object({
      artistName: text,
      home: object({ city: text }),
      all: { type: 'array', items: object({ n: integer }) },
    }),
    cases: [
      [{ artistName: 'x', home: { city: 'y' }, all: [{ n: 1 }] }, []],
      [{ 'artist-name': 'x' }, ['/artist-name is not defined in the schema; did you mean artistName?']],
      [{ home: { City: 'x' } }, ['/home/City is not defined in the schema; did you mean city?']],
      [{ all: [{}, { m: 1 }] }, ['/all/1/m is not defined in the schema.']],
    ],
  },
  {
    title: 'references',
    schema: {
      $id: 'https://example.com/input',
      ...object(
        { a: { $ref: '#/$defs/node' }, b: { $ref: '#node' }, c: { $ref: '#' } },
        { $defs: { node: object({ next: { $ref: '#/$defs/node' } }, { $anchor: 'node' }) } },
      ),
    },
    cases: [
      [{ a: { next: { next: {} } }, c: { c: {} } }, []],
      [{ a: { x: 1 } }, ['/a/x is not defined in the schema.']],
      [{ a: { next: { next: { x: 1 } } } }, ['/a/next/next/x is not defined in the schema.']],
      [{ b: { x: 1 } }, ['/b/x is not defined in the schema.']],
      [{ c: { c: { x: 1 } } }, ['/c/c/x is not defined in the schema.']],
    ],
  },
  {
    title: 'a schema or null',
    schema: object({
      a: { anyOf: [object({ n: integer }), { type: 'null' }] },
      b: { oneOf: [{ type: 'null' }, { $ref: '#/properties/a' }] },
    }),
    cases: [
      [{ a: null, b: { n: 1 } }, []],
      [{ a: { m: 1 } }, ['/a/m is not defined in the schema.']],
      [{ b: { m: 1 } }, ['/b/m is not defined in the schema.']],
    ],
  },
  {
    title: 'prefixItems and additionalProperties',
    schema: object({
      pair: { prefixItems: [object({ n: integer })] },
      map: { additionalProperties: object({ n: integer }) },
    }),
    cases: [
      [{ pair: [{ n: 1 }, { m: 1 }], map: { x: { n: 1 } } }, []],
      [{ pair: [{ m: 1 }] }, ['/pair/0/m is not defined in the schema.']],
      [{ map: { x: { m: 1 } } }, ['/map/x/m is not defined in the schema.']],
    ],
  },
]

const base = { $ref: '#/$defs/base' }

/** Schemas with undeclared fields that strict mode allows, too. */
export const openSchemas: [title: string, schema: JsonObject, value: JsonObject][] = [
  ['additionalProperties', object({ a: text }, { additionalProperties: true }), { b: 1 }],
  ['additionalProperties with a schema', object({ a: text }, { additionalProperties: integer }), { b: 1 }],
  ['unevaluatedProperties', object({ a: text }, { unevaluatedProperties: true }), { b: 1 }],
  ['patternProperties', object({ a: text }, { patternProperties: { '^b': integer } }), { b: 1, c: 2 }],
  ['propertyNames', object({ a: text }, { propertyNames: { maxLength: 1 } }), { b: 1 }],
  ['no properties', { type: 'object' }, { b: 1 }],
  [
    'allOf',
    object({ a: object({ x: text }) }, { allOf: [object({ b: text, a: object({ y: text }) })] }),
    { a: { x: 'p', y: 'q' }, b: 'x' },
  ],
  [
    '$ref next to properties',
    object({ a: { ...object({ x: text }), ...base } }, { $defs: { base: object({ y: text }) } }),
    { a: { x: 'p', y: 'q' } },
  ],
  [
    'a schema that is both referenced and extended',
    object(
      { one: base, more: { allOf: [base, object({ z: text })] } },
      { $defs: { base: object({ y: text }) } },
    ),
    { one: { y: 'q' }, more: { y: 'q', z: 'r' } },
  ],
  [
    'then',
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    object({ a: text }, { if: { required: ['a'] }, then: object({ b: integer }) }),
    { a: 'x', b: 1 },
  ],
  [
    'dependentSchemas',
    object({ a: text }, { dependentSchemas: { a: object({ b: integer }) } }),
    { a: 'x', b: 1 },
  ],
  [
    'anyOf',
    object({ a: text }, { anyOf: [object({ b: integer }), object({ c: integer })] }),
    { a: 'x', b: 1, c: 2 },
  ],
]
