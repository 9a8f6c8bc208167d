import type { Json, JsonObject } from '../../../lib/core/json/json.ts'

/** A value and the messages of its violations. */
type Case = [value: Json, messages: string[]]

export type Group = { title: string; schema: JsonObject; cases: Case[] }

export const group = (title: string, schema: JsonObject, cases: Case[]): Group => ({ title, schema, cases })

export const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
})

export const text = { type: 'string' }
export const integer = { type: 'integer' }
const maybe = { required: false }

/** Tests the schema of one field. Messages about the field omit its path; those about its parts start below it. */
const field = (title: string, schema: JsonObject, cases: Case[]): Group => ({
  title,
  schema: object({ it: schema }),
  cases: cases.map(([value, messages]) => [
    { it: value },
    messages.map((message) => (message.startsWith('/') ? `/it${message}` : `/it ${message}`)),
  ]),
})

export const groups: Group[] = [
  {
    title: 'a field map',
    schema: {
      artistName: text,
      age: { ...integer, ...maybe },
      size: { ...text, ...maybe, enum: ['small', 'medium', 'large'] },
      'a/b~c': { ...integer, ...maybe },
      tags: { type: 'array', items: text, ...maybe },
      home: { type: 'object', properties: { postCode: text }, ...maybe },
    },
    cases: [
      [{ artistName: 'x' }, []],
      [
        { 'artist-name': 'x' },
        ['/artistName is required.', '/artist-name is not defined in the schema; did you mean artistName?'],
      ],
      [{ artistName: 'x', tag: 3 }, ['/tag is not defined in the schema; did you mean tags?']],
      [{ artistName: 'x', colour: 3 }, ['/colour is not defined in the schema.']],
      [{ artistName: 'x', '': 3 }, ['/ is not defined in the schema.']],
      [{ artistName: 'x', 'o/~ %#"é': 3 }, ['/o~1~0 %#"é is not defined in the schema.']],
      [{ artistName: 'x', age: 1.5 }, ['/age must be an integer, not a fractional number.']],
      [{ artistName: 'x', age: null }, ['/age must be an integer, not null.']],
      [{ artistName: 'x', size: 'huge' }, ['/size must be one of small, medium, large.']],
      [{ artistName: 'x', 'a/b~c': 'x' }, ['/a~1b~0c must be an integer, not a string.']],
      [
        { artistName: 'x', tags: ['a', 1, 'b', []] },
        ['/tags/1 must be a string, not a number.', '/tags/3 must be a string, not an array.'],
      ],
      [
        { artistName: 'x', home: { postcode: 'y' } },
        [
          '/home/postCode is required.',
          '/home/postcode is not defined in the schema; did you mean postCode?',
        ],
      ],
      ['x', ['The value must be an object, not a string.']],
      [null, ['The value must be an object, not null.']],
    ],
  },
  group('an empty field map', {}, [
    [{}, []],
    [{ a: 1 }, ['/a is not defined in the schema.']],
  ]),
  field('string lengths', { type: 'string', minLength: 2, maxLength: 3 }, [
    ['ab', []],
    ['a', ['must have at least 2 characters.']],
    ['abcd', ['must have at most 3 characters.']],
  ]),
  field('non-empty string', { type: 'string', minLength: 1 }, [['', ['must not be empty.']]]),
  field('pattern and length', { type: 'string', pattern: '^a+$', maxLength: 1 }, [
    ['aa', ['must have at most 1 character.']],
    ['b', ['must match the pattern ^a+$.']],
    ['bb', ['must have at most 1 character.', 'must match the pattern ^a+$.']],
  ]),
  field('minimum, maximum and multipleOf', { type: 'number', minimum: 1, maximum: 5, multipleOf: 0.5 }, [
    [0, ['must be at least 1.']],
    [6, ['must be at most 5.']],
    [1.2, ['must be a multiple of 0.5.']],
    ['1', ['must be a number, not a string.']],
  ]),
  field('exclusive minimum and maximum', { exclusiveMinimum: 0, exclusiveMaximum: 1 }, [
    [0, ['must be greater than 0.']],
    [1, ['must be less than 1.']],
  ]),
  field('array sizes', { type: 'array', minItems: 2, maxItems: 3, uniqueItems: true }, [
    [[1], ['must have at least 2 items.']],
    [[1, 2, 3, 4], ['must have at most 3 items.']],
    [[1, 2, 1], ['must not contain duplicate items.']],
  ]),
  field('non-empty array', { type: 'array', minItems: 1 }, [[[], ['must not be empty.']]]),
  field('object sizes', { type: 'object', minProperties: 1, maxProperties: 1 }, [
    [{}, ['must have at least 1 field.']],
  ]),
  field('format date', { type: 'string', format: 'date' }, [
    ['2026-01-31', []],
    ['31.1.2026', ['must be a date such as 2026-01-31.']],
  ]),
  field('format date-time', { type: 'string', format: 'date-time' }, [
    ['2026-01-31', ['must be a date and time with an offset, such as 2026-01-31T12:00:00Z.']],
  ]),
  field('format email', { type: 'string', format: 'email' }, [['x', ['must be an email address.']]]),
  field('other formats', { type: 'string', format: 'ipv4' }, [['x', ['must match the format ipv4.']]]),
  field('several types', { type: ['string', 'integer', 'null'] }, [
    [true, ['must be a string, an integer or null, not a boolean.']],
  ]),
  field('const', { const: 'order' }, [['x', ['must be order.']]]),
  field('enum with values of every type', { enum: [1, 'a', '', 'a, b', null, true, [1]] }, [
    ['x', ['must be one of 1, a, "", "a, b", null, true, [1].']],
  ]),
  field('enum with one value', { type: 'string', enum: ['only'] }, [['x', ['must be only.']]]),
  field('enum with many values', { enum: Array.from({ length: 14 }, (_, i) => i) }, [
    [-1, ['must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 4 more.']],
  ]),
  field('enum with long values', { enum: ['x'.repeat(50), 'y'] }, [
    ['x', [`must be one of ${'x'.repeat(40)}…, y.`]],
  ]),
  field('contains', { type: 'array', contains: { type: 'integer' } }, [
    [['a'], ['must contain at least 1 item matching the schema of "contains".']],
    [[], ['must contain at least 1 item matching the schema of "contains".']],
  ]),
  field('minContains', { type: 'array', contains: { type: 'integer' }, minContains: 2 }, [
    [['a', 1], ['must contain at least 2 items matching the schema of "contains".']],
  ]),
  field('maxContains', { type: 'array', contains: { type: 'integer' }, maxContains: 1 }, [
    [[1, 2], ['must contain at most 1 item matching the schema of "contains".']],
  ]),
  field('not', { not: { type: 'null' } }, [[null, ['must not match the schema of "not".']]]),
  field('the schema false', false as never, [[1, ['is not allowed.']]]),
  group('propertyNames', { type: 'object', propertyNames: { maxLength: 2 } }, [
    [{ abc: 1 }, ['/abc is not an allowed field name.']],
  ]),
  group('dependentRequired', object({ a: text, b: text }, { dependentRequired: { a: ['b'] } }), [
    [{ a: 'x' }, ['/b is required.']],
  ]),
  {
    title: 'if, then, else',
    schema: object(
      { kind: text, n: {} },
      {
        if: { properties: { kind: { const: 'n' } } },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { required: ['n'] },
        else: { properties: { n: false } },
      },
    ),
    cases: [
      [{ kind: 'n' }, ['/n is required.']],
      [{ kind: 'm', n: 1 }, ['/n is not allowed.']],
    ],
  },
  field('anyOf with different types', { anyOf: [text, integer] }, [
    ['x', []],
    [true, ['must be a string or an integer, not a boolean.']],
  ]),
  field('a schema or null', { anyOf: [object({ n: integer }, { required: ['n'] }), { type: 'null' }] }, [
    [null, []],
    [{}, ['/n is required.']],
    [{ n: 'x' }, ['/n must be an integer, not a string.']],
    ['x', ['must be an object or null, not a string.']],
  ]),
  field('oneOf with an enum and a type', { oneOf: [{ enum: ['a', 'b'] }, integer] }, [
    ['c', ['must be one of a, b or an integer.']],
  ]),
  field('oneOf with constants', { oneOf: [{ const: 'a' }, { const: 'b' }] }, [['c', ['must be a or b.']]]),
  field(
    'anyOf with the same type',
    {
      anyOf: [
        { ...text, minLength: 3 },
        { ...text, pattern: '^a' },
      ],
    },
    [['b', ['must match at least one of the allowed schemas.']]],
  ),
  field('oneOf with several matches', { oneOf: [text, { minLength: 1 }, integer] }, [
    ['x', ['must match exactly one of the allowed schemas, but matches several.']],
  ]),
  field(
    'oneOf with a tag field',
    {
      oneOf: [
        object({ kind: { const: 'circle' }, radius: integer }, { required: ['kind', 'radius'] }),
        object({ kind: { enum: ['square', 'box'] }, side: integer }, { required: ['kind', 'side'] }),
      ],
    },
    [
      [{ kind: 'circle' }, ['/radius is required.']],
      [{ kind: 'box', side: 'x' }, ['/side must be an integer, not a string.']],
      [{ kind: 'line' }, ['must match exactly one of the allowed schemas, but matches none.']],
      ['x', ['must be an object, not a string.']],
    ],
  ),
  {
    title: 'references',
    schema: object(
      { a: { $ref: '#/$defs/point' }, b: { allOf: [{ $ref: '#/$defs/point' }] } },
      {
        $defs: {
          point: object({ x: integer, next: { $ref: '#/$defs/point' } }, { additionalProperties: false }),
        },
      },
    ),
    cases: [
      [{ a: { x: 'y' } }, ['/a/x must be an integer, not a string.']],
      [{ a: { next: { next: { X: 1 } } } }, ['/a/next/next/X is not defined in the schema; did you mean x?']],
      [
        { b: { x: 1.5, z: 1 } },
        ['/b/x must be an integer, not a fractional number.', '/b/z is not defined in the schema.'],
      ],
    ],
  },
  {
    title: 'additionalProperties and patternProperties',
    schema: object(
      { a: text },
      { patternProperties: { '^n': integer }, additionalProperties: { type: 'boolean' } },
    ),
    cases: [
      [
        { n1: 'x', other: 1 },
        ['/n1 must be an integer, not a string.', '/other must be a boolean, not a number.'],
      ],
    ],
  },
  {
    title: 'unevaluatedProperties',
    schema: object({ artist: text }, { allOf: [object({ name: text })], unevaluatedProperties: false }),
    cases: [
      [
        { artist: 'x', name: 'y', artists: 1 },
        ['/artists is not defined in the schema; did you mean artist?'],
      ],
    ],
  },
  group('prefixItems', object({ pair: { type: 'array', prefixItems: [text, integer], items: false } }), [
    [
      { pair: [1, 'x', true] },
      [
        '/pair/0 must be a string, not a number.',
        '/pair/1 must be an integer, not a string.',
        '/pair/2 is not allowed.',
      ],
    ],
  ]),
]
