import type { Json, JsonObject } from '../../../lib/core/json.ts'

/** A value and the messages about it; each starts with its path. */
type Case = [value: Json, messages: string[]]

type Group = { title: string; schema: JsonObject; cases: Case[] }

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...more,
})

const text = { type: 'string' }
const integer = { type: 'integer' }
const maybe = { required: false }

/** A schema of one field, and values of it; a message about a part of one starts with its path below the field. */
const field = (title: string, schema: JsonObject, cases: Case[]): Group => ({
  title,
  schema: object({ it: schema }),
  cases: cases.map(([value, messages]) => [
    { it: value },
    messages.map((message) => (message.startsWith('/') ? `/it${message}` : `/it ${message}`)),
  ]),
})

const FORMLESS = 'fits none of the forms that the schema allows.'

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
      [{ artistName: 'x', age: 3, size: 'small', tags: [], home: { postCode: 'y' } }, []],
      [{}, ['/artistName is required.']],
      [
        { 'artist-name': 'x' },
        ['/artistName is required.', '/artist-name is not a field of the schema; did you mean artistName?'],
      ],
      [{ artistName: 'x', Age: 3 }, ['/Age is not a field of the schema; did you mean age?']],
      [{ artistName: 'x', tag: 3 }, ['/tag is not a field of the schema; did you mean tags?']],
      [{ artistName: 'x', colour: 3 }, ['/colour is not a field of the schema.']],
      [{ artistName: 'x', '': 3 }, ['/ is not a field of the schema.']],
      [{ artistName: 'x', 'o/~ %#"é': 3 }, ['/o~1~0 %#"é is not a field of the schema.']],
      [{ artistName: 'x', age: 'ten' }, ['/age must be a whole number, not a text.']],
      [{ artistName: 'x', age: 1.5 }, ['/age must be a whole number, not a number with a fraction.']],
      [{ artistName: 'x', age: null }, ['/age must be a whole number, not null.']],
      [{ artistName: true }, ['/artistName must be a text, not a boolean.']],
      [{ artistName: 'x', size: 'huge' }, ['/size must be one of small, medium, large.']],
      [{ artistName: 'x', size: 3 }, ['/size must be one of small, medium, large.']],
      [{ artistName: 'x', 'a/b~c': 'x' }, ['/a~1b~0c must be a whole number, not a text.']],
      [{ artistName: 'x', tags: {} }, ['/tags must be a list, not an object.']],
      [
        { artistName: 'x', tags: ['a', 1, 'b', []] },
        ['/tags/1 must be a text, not a number.', '/tags/3 must be a text, not a list.'],
      ],
      [
        { artistName: 'x', home: { postcode: 'y' } },
        [
          '/home/postCode is required.',
          '/home/postcode is not a field of the schema; did you mean postCode?',
        ],
      ],
      [{ artistName: 'x', home: [] }, ['/home must be an object, not a list.']],
      ['x', ['The value must be an object, not a text.']],
      [null, ['The value must be an object, not null.']],
    ],
  },
  {
    title: 'a field map without fields',
    schema: {},
    cases: [
      [{}, []],
      [{ a: 1 }, ['/a is not a field of the schema.']],
    ],
  },
  field('lengths', { type: 'string', minLength: 2, maxLength: 3 }, [
    ['ab', []],
    ['a', ['must have at least 2 characters.']],
    ['abcd', ['must have at most 3 characters.']],
  ]),
  field('no empty text', { type: 'string', minLength: 1 }, [['', ['must not be empty.']]]),
  field('a pattern and a length', { type: 'string', pattern: '^a+$', maxLength: 1 }, [
    ['aa', ['must have at most 1 character.']],
    ['b', ['must match the pattern ^a+$.']],
    ['bb', ['must have at most 1 character.', 'must match the pattern ^a+$.']],
  ]),
  field('bounds', { type: 'number', minimum: 1, maximum: 5, multipleOf: 0.5 }, [
    [0, ['must be at least 1.']],
    [6, ['must be at most 5.']],
    [1.2, ['must be a multiple of 0.5.']],
    ['1', ['must be a number, not a text.']],
  ]),
  field('exclusive bounds', { exclusiveMinimum: 0, exclusiveMaximum: 1 }, [
    [0, ['must be more than 0.']],
    [1, ['must be less than 1.']],
  ]),
  field('sizes of lists', { type: 'array', minItems: 2, maxItems: 3, uniqueItems: true }, [
    [[1], ['must have at least 2 items.']],
    [[1, 2, 3, 4], ['must have at most 3 items.']],
    [[1, 2, 1], ['must not hold an item twice.']],
  ]),
  field('no empty list', { type: 'array', minItems: 1 }, [[[], ['must not be empty.']]]),
  field('sizes of objects', { type: 'object', minProperties: 1, maxProperties: 1 }, [
    [{}, ['must have at least 1 field.']],
    [{ a: 1, b: 2 }, ['must have at most 1 field.']],
  ]),
  field('dates', { type: 'string', format: 'date' }, [
    ['2026-01-31', []],
    ['31.1.2026', ['must be a date, such as 2026-01-31.']],
  ]),
  field('moments', { type: 'string', format: 'date-time' }, [
    ['2026-01-31', ['must be a date and time with its offset, such as 2026-01-31T12:00:00Z.']],
  ]),
  field('addresses', { type: 'string', format: 'email' }, [['x', ['must be an e-mail address.']]]),
  field('other formats', { type: 'string', format: 'ipv4' }, [['x', ['must be of the format ipv4.']]]),
  field('several types', { type: ['string', 'integer', 'null'] }, [
    [true, ['must be a text, a whole number or null, not a boolean.']],
  ]),
  field('a constant', { const: 'order' }, [['x', ['must be order.']]]),
  field('choices of every type', { enum: [1, 'a', '', 'a, b', null, true, [1]] }, [
    ['x', ['must be one of 1, a, "", "a, b", null, true, [1].']],
  ]),
  field('one choice', { type: 'string', enum: ['only'] }, [['x', ['must be only.']]]),
  field('many choices', { enum: Array.from({ length: 14 }, (_, i) => i) }, [
    [-1, ['must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 4 more.']],
  ]),
  field('long choices', { enum: ['x'.repeat(50), 'y'] }, [['x', [`must be one of ${'x'.repeat(40)}…, y.`]]]),
  field('one item of a kind', { type: 'array', contains: { type: 'integer' } }, [
    [['a'], ['must hold an item of the kind that the schema asks for.']],
    [[], ['must hold an item of the kind that the schema asks for.']],
  ]),
  field('two items of a kind', { type: 'array', contains: { type: 'integer' }, minContains: 2 }, [
    [['a', 1], ['must hold at least 2 items of the kind that the schema asks for.']],
  ]),
  field('one item of a kind at most', { type: 'array', contains: { type: 'integer' }, maxContains: 1 }, [
    [[1, 2], ['must hold at most 1 item of the kind that the schema asks for.']],
  ]),
  field('what is ruled out', { not: { type: 'null' } }, [[null, ['must not be what the schema rules out.']]]),
  field('nothing', false as never, [[1, ['is not allowed.']]]),
  {
    title: 'names that are not allowed',
    schema: { type: 'object', propertyNames: { maxLength: 2 } },
    cases: [[{ abc: 1 }, ['/abc has a name that the schema does not allow.']]],
  },
  {
    title: 'fields that need others',
    schema: object({ a: text, b: text }, { dependentRequired: { a: ['b'] } }),
    cases: [[{ a: 'x' }, ['/b is required.']]],
  },
  {
    title: 'conditions',
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
  field('forms of several kinds', { anyOf: [text, integer] }, [
    ['x', []],
    [true, ['must be a text or a whole number, not a boolean.']],
  ]),
  field('a form or null', { anyOf: [object({ n: integer }, { required: ['n'] }), { type: 'null' }] }, [
    [null, []],
    [{}, ['/n is required.']],
    [{ n: 'x' }, ['/n must be a whole number, not a text.']],
    ['x', ['must be an object or null, not a text.']],
  ]),
  field('forms and choices', { oneOf: [{ enum: ['a', 'b'] }, integer] }, [
    ['c', ['must be one of a, b or a whole number.']],
  ]),
  field('constants as forms', { oneOf: [{ const: 'a' }, { const: 'b' }] }, [['c', ['must be a or b.']]]),
  field(
    'forms of one kind',
    {
      anyOf: [
        { ...text, minLength: 3 },
        { ...text, pattern: '^a' },
      ],
    },
    [['b', [FORMLESS]]],
  ),
  field('more than one form', { oneOf: [text, { minLength: 1 }, integer] }, [
    ['x', ['fits several forms of which the schema allows one.']],
  ]),
  field(
    'forms with a tag',
    {
      oneOf: [
        object({ kind: { const: 'circle' }, radius: integer }, { required: ['kind', 'radius'] }),
        object({ kind: { enum: ['square', 'box'] }, side: integer }, { required: ['kind', 'side'] }),
      ],
    },
    [
      [{ kind: 'circle' }, ['/radius is required.']],
      [{ kind: 'box', side: 'x' }, ['/side must be a whole number, not a text.']],
      [{ kind: 'line' }, [FORMLESS]],
      ['x', ['must be an object, not a text.']],
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
      [{ a: { x: 'y' } }, ['/a/x must be a whole number, not a text.']],
      [{ a: { next: { next: { X: 1 } } } }, ['/a/next/next/X is not a field of the schema; did you mean x?']],
      [
        { b: { x: 1.5, z: 1 } },
        ['/b/x must be a whole number, not a number with a fraction.', '/b/z is not a field of the schema.'],
      ],
    ],
  },
  {
    title: 'other fields and patterns',
    schema: object(
      { a: text },
      { patternProperties: { '^n': integer }, additionalProperties: { type: 'boolean' } },
    ),
    cases: [
      [
        { n1: 'x', other: 1 },
        ['/n1 must be a whole number, not a text.', '/other must be true or false, not a number.'],
      ],
    ],
  },
  {
    title: 'unevaluated fields',
    schema: object({ artist: text }, { allOf: [object({ name: text })], unevaluatedProperties: false }),
    cases: [
      [
        { artist: 'x', name: 'y', artists: 1 },
        ['/artists is not a field of the schema; did you mean artist?'],
      ],
    ],
  },
  {
    title: 'tuples',
    schema: object({ pair: { type: 'array', prefixItems: [text, integer], items: false } }),
    cases: [
      [
        { pair: [1, 'x', true] },
        [
          '/pair/0 must be a text, not a number.',
          '/pair/1 must be a whole number, not a text.',
          '/pair/2 is not allowed.',
        ],
      ],
    ],
  },
]

/** JSON Schemas, and values that strict mode alone finds something wrong with. */
export const strictGroups: Group[] = [
  {
    title: 'a schema that leaves other fields open',
    schema: object({
      artistName: text,
      home: object({ city: text }),
      all: { type: 'array', items: object({ n: integer }) },
    }),
    cases: [
      [{ artistName: 'x', home: { city: 'y' }, all: [{ n: 1 }] }, []],
      [{ 'artist-name': 'x' }, ['/artist-name is not a field of the schema; did you mean artistName?']],
      [{ home: { City: 'x' } }, ['/home/City is not a field of the schema; did you mean city?']],
      [{ all: [{}, { m: 1 }] }, ['/all/1/m is not a field of the schema.']],
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
      [{ a: { x: 1 } }, ['/a/x is not a field of the schema.']],
      [{ a: { next: { next: { x: 1 } } } }, ['/a/next/next/x is not a field of the schema.']],
      [{ b: { x: 1 } }, ['/b/x is not a field of the schema.']],
      [{ c: { c: { x: 1 } } }, ['/c/c/x is not a field of the schema.']],
    ],
  },
  {
    title: 'a form or null',
    schema: object({
      a: { anyOf: [object({ n: integer }), { type: 'null' }] },
      b: { oneOf: [{ type: 'null' }, { $ref: '#/properties/a' }] },
    }),
    cases: [
      [{ a: null, b: { n: 1 } }, []],
      [{ a: { m: 1 } }, ['/a/m is not a field of the schema.']],
      [{ b: { m: 1 } }, ['/b/m is not a field of the schema.']],
    ],
  },
  {
    title: 'tuples and other fields',
    schema: object({
      pair: { prefixItems: [object({ n: integer })] },
      map: { additionalProperties: object({ n: integer }) },
    }),
    cases: [
      [{ pair: [{ n: 1 }, { m: 1 }], map: { x: { n: 1 } } }, []],
      [{ pair: [{ m: 1 }] }, ['/pair/0/m is not a field of the schema.']],
      [{ map: { x: { m: 1 } } }, ['/map/x/m is not a field of the schema.']],
    ],
  },
]

/** Objects that take fields which their `properties` do not name: strict mode agrees. */
export const openGroups: Group[] = [
  {
    title: 'additionalProperties',
    schema: object({ a: text }, { additionalProperties: true }),
    cases: [[{ b: 1 }, []]],
  },
  {
    title: 'a schema of them',
    schema: object({ a: text }, { additionalProperties: integer }),
    cases: [[{ b: 1 }, []]],
  },
  {
    title: 'unevaluatedProperties',
    schema: object({ a: text }, { unevaluatedProperties: true }),
    cases: [[{ b: 1 }, []]],
  },
  {
    title: 'patternProperties',
    schema: object({ a: text }, { patternProperties: { '^b': integer } }),
    cases: [[{ b: 1, c: 2 }, []]],
  },
  {
    title: 'propertyNames',
    schema: object({ a: text }, { propertyNames: { maxLength: 1 } }),
    cases: [[{ b: 1 }, []]],
  },
  { title: 'no properties', schema: { type: 'object' }, cases: [[{ b: 1 }, []]] },
  {
    title: 'allOf',
    schema: object({ a: object({ x: text }) }, { allOf: [object({ b: text, a: object({ y: text }) })] }),
    cases: [[{ a: { x: 'p', y: 'q' }, b: 'x' }, []]],
  },
  {
    title: 'a reference beside properties',
    schema: object(
      { a: { ...object({ x: text }), $ref: '#/$defs/base' } },
      { $defs: { base: object({ y: text }) } },
    ),
    cases: [[{ a: { x: 'p', y: 'q' } }, []]],
  },
  {
    title: 'a base that is both referred to and extended',
    schema: object(
      { one: { $ref: '#/$defs/base' }, more: { allOf: [{ $ref: '#/$defs/base' }, object({ z: text })] } },
      { $defs: { base: object({ y: text }) } },
    ),
    cases: [[{ one: { y: 'q' }, more: { y: 'q', z: 'r' } }, []]],
  },
  {
    title: 'then',
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    schema: object({ a: text }, { if: { required: ['a'] }, then: object({ b: integer }) }),
    cases: [[{ a: 'x', b: 1 }, []]],
  },
  {
    title: 'dependentSchemas',
    schema: object({ a: text }, { dependentSchemas: { a: object({ b: integer }) } }),
    cases: [[{ a: 'x', b: 1 }, []]],
  },
  {
    title: 'forms',
    schema: object({ a: text }, { anyOf: [object({ b: integer }), object({ c: integer })] }),
    cases: [[{ a: 'x', b: 1, c: 2 }, []]],
  },
]
