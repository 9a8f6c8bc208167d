import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import { type Case, type Group, group, optional, unchanged } from './adapt-case.ts'
import { objectOf, text, texts } from './cases/case-group.ts'

/** A value of the field `it` and its conversion. */
const converts = (sent: Json, effective: Json): Case => [
  { it: sent },
  { it: effective },
  [`converted /it from ${typeof sent}`],
]

const keeps = (sent: Json): Case => unchanged({ it: sent })

const it = (field: JsonObject): JsonObject => ({ it: field })

export const valueCases: Group[] = [
  group('objects', it({ type: 'object', properties: { n: optional('integer') } }), [
    converts(' {"n": 3} ', { n: 3 }),
    ...['[{"n": 3}]', '{"n": 9007199254740993}'].map(keeps),
    [
      { it: [{ N: '3' }] },
      { it: { n: 3 } },
      ['converted /it from array', 'renamed /it/0/N -> /it/n', 'converted /it/n from string'],
    ],
  ]),
  group('arrays of integers', it({ type: 'array', items: { type: 'integer' } }), [
    [{ it: '3' }, { it: [3] }, ['converted /it from string', 'converted /it/0 from string']],
    ...['[1, 2'].map(keeps),
  ]),
  group('arrays of strings', it({ type: 'array', items: { type: 'string' } }), [
    [{ it: 3 }, { it: ['3'] }, ['converted /it from number', 'converted /it/0 from number']],
  ]),
  group('arrays of choices', it({ type: 'array', items: { enum: ['red', 'blue', ''] } }), [
    converts('red, blue', ['red', 'blue']),
    converts('red||blue', ['red', '', 'blue']),
    // Separators alone name nothing.
    ...[',', ' ; '].map(keeps),
  ]),
  group('arrays of objects', it({ type: 'array', items: objectOf({ n: { type: 'integer', default: 1 } }) }), [
    [
      { it: [{ N: 3 }, {}] },
      { it: [{ n: 3 }, { n: 1 }] },
      ['renamed /it/0/N -> /it/0/n', 'defaulted /it/1/n'],
    ],
    [
      { it: { N: '3' } },
      { it: [{ n: 3 }] },
      ['converted /it from object', 'renamed /it/N -> /it/0/n', 'converted /it/0/n from string'],
    ],
    [{ it: '{"n": 3}' }, { it: [{ n: 3 }] }, ['converted /it from string', 'converted /it/0 from string']],
  ]),
  {
    title: 'arrays of arrays and arrays without items',
    schema: {
      it: optional('array', { items: { type: 'array', items: { type: 'integer' } } }),
      any: optional('array'),
    },
    cases: [
      [{ any: 'x' }, { any: ['x'] }, ['converted /any from string']],
      [{ any: null }, {}, ['removed /any -> /any']],
    ],
  },
  group(
    'enum',
    { it: optional('string', { enum: ['small', 'medium-size', 'Extra Large', '-1', '1', 'v1.5'] }) },
    [converts(' SMALL\n', 'small')],
  ),
  group('enum with several matches', it({ type: 'string', enum: ['AB', 'ab', 'a-c', 'a c'] }), [
    keeps('ac'),
    keeps('A_C'),
  ]),
  {
    title: 'enum with numbers, booleans and strings',
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: { it: { enum: [1, 2.5, 'x', true, '2', 2, null] } },
    },
    cases: [converts('1', 1), converts('TRUE', true), ...[null].map(keeps)],
  },
  group('const', { type: 'object', properties: { it: { const: 'Order' } } }, [converts('order', 'Order')]),
  {
    title: 'defaults',
    schema: {
      limit: { type: 'integer', default: 5 },
      mode: { type: 'string', enum: ['fast', 'slow'], default: 'fast' },
      page: optional('object', { properties: { size: { type: 'integer', default: 10 } } }),
      paging: { type: 'object', properties: { size: { type: 'integer', default: 10 } }, default: {} },
    },
    cases: [
      [
        { limit: null, mode: 'slow', paging: { size: 1 } },
        { mode: 'slow', paging: { size: 1 }, limit: 5 },
        ['removed /limit -> /limit', 'defaulted /limit'],
      ],
      [
        { Limit: 1, LIMIT: 2, mode: 'slow', paging: { size: 1 } },
        { Limit: 1, LIMIT: 2, mode: 'slow', paging: { size: 1 }, limit: 5 },
        ['defaulted /limit'],
      ],
    ],
  },
]

const tags = optional('array', { items: text })

const rename = (from: string, to: string) => `renamed /${from} -> /${to}`

export const nameCases: Group[] = [
  group('case and separators', { artistName: text, ...texts('line2', 'Größe') }, [
    [{ artistName: 'x', 'line-2': 'y' }, { artistName: 'x', line2: 'y' }, [rename('line-2', 'line2')]],
    unchanged({ 'artist-name': 'x', artist_name: 'y' }),
  ]),
  group('digits', texts('line12', 'part_1_2'), [unchanged({ line_1_2: 'x' }), unchanged({ part12: 'x' })]),
  group('two fields with the unchanged normalized name', texts('artist-name', 'artistName'), [
    unchanged({ ARTIST_NAME: 'x' }),
    unchanged({ artistName: 'x', ARTIST_NAME: 'y' }),
  ]),
  group('names that consist of separators', texts('_', '', 'many'), [unchanged({ '-': 'x' })]),
  group('singular and plural', { tags, boxes: tags, ...texts('category', 'id', 'address') }, [
    [{ tag: 'x' }, { tags: ['x'] }, [rename('tag', 'tags'), 'converted /tags from string']],
    [{ box: ['x'] }, { boxes: ['x'] }, [rename('box', 'boxes')]],
  ]),
  {
    title: 'typos',
    schema: {
      ...texts('name', 'artistName', 'organisation', 'gender', 'line1', 'map'),
      length: optional('integer'),
      minPrice: optional('number'),
      excluded: optional('boolean'),
    },
    cases: [
      [{ artisttName: 'x' }, { artistName: 'x' }, [rename('artisttName', 'artistName')]],
      [{ artist_nme: 'x' }, { artistName: 'x' }, [rename('artist_nme', 'artistName')]],
      unchanged({ mapp: 'x' }),
      unchanged({ nmae: 'x' }),
    ],
  },
  group('envelopes', { artistName: text, limit: { type: 'integer', default: 5 } }, [
    [{ data: { input: { limit: 1 } } }, { limit: 1 }, ['unwrapped /data/input -> ']],
    [{ data: { limit: 1, extra: 2 } }, { limit: 1, extra: 2 }, ['unwrapped /data -> ']],
    [{ input: { other: 1 } }, { input: { other: 1 }, limit: 5 }, ['defaulted /limit']],
    [{ input: 'x' }, { input: 'x', limit: 5 }, ['defaulted /limit']],
    [{ input: [{ limit: 1 }] }, { limit: 1 }, ['unwrapped /input/0 -> ']],
  ]),
  group('a field with the name of an envelope', { data: objectOf({ date: text }), ...texts('date') }, [
    [{ Data: { date: 'x' } }, { data: { date: 'x' } }, [rename('Data', 'data')]],
  ]),
]
