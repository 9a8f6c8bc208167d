import type { Json, JsonObject } from '../../../lib/core/json/json.ts'
import { type Case, type Group, optional, unchanged } from './adapt-case.ts'

/** A value of the field `it` and its conversion. */
const converts = (sent: Json, effective: Json): Case => [
  { it: sent },
  { it: effective },
  [`converted /it from ${typeof sent}`],
]

const keeps = (sent: Json): Case => unchanged({ it: sent })

const it = (field: JsonObject): JsonObject => ({ it: field })

export const valueCases: Group[] = [
  {
    title: 'objects',
    schema: it({ type: 'object', properties: { n: optional('integer') } }),
    cases: [
      converts(' {"n": 3} ', { n: 3 }),
      ...['[{"n": 3}]', '{"n": 9007199254740993}'].map(keeps),
      [
        { it: [{ N: '3' }] },
        { it: { n: 3 } },
        ['converted /it from array', 'renamed /it/0/N -> /it/n', 'converted /it/n from string'],
      ],
    ],
  },
  {
    title: 'arrays of integers',
    schema: it({ type: 'array', items: { type: 'integer' } }),
    cases: [
      [{ it: '3' }, { it: [3] }, ['converted /it from string', 'converted /it/0 from string']],
      ...['[1, 2'].map(keeps),
    ],
  },
  {
    title: 'arrays of strings',
    schema: it({ type: 'array', items: { type: 'string' } }),
    cases: [[{ it: 3 }, { it: ['3'] }, ['converted /it from number', 'converted /it/0 from number']]],
  },
  {
    title: 'arrays of choices',
    schema: it({ type: 'array', items: { enum: ['red', 'blue', ''] } }),
    cases: [
      converts('red, blue', ['red', 'blue']),
      converts('red||blue', ['red', '', 'blue']),
      // Separators alone name nothing.
      ...[',', ' ; '].map(keeps),
    ],
  },
  {
    title: 'arrays of objects',
    schema: it({
      type: 'array',
      items: { type: 'object', properties: { n: { type: 'integer', default: 1 } } },
    }),
    cases: [
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
    ],
  },
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
  {
    title: 'enum',
    schema: {
      it: optional('string', { enum: ['small', 'medium-size', 'Extra Large', '-1', '1', 'v1.5'] }),
    },
    cases: [converts(' SMALL\n', 'small')],
  },
  {
    title: 'enum with several matches',
    schema: it({ type: 'string', enum: ['AB', 'ab', 'a-c', 'a c'] }),
    cases: [...['ac', 'A_C'].map(keeps)],
  },
  {
    title: 'enum with numbers, booleans and strings',
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: { it: { enum: [1, 2.5, 'x', true, '2', 2, null] } },
    },
    cases: [converts('1', 1), converts('TRUE', true), ...[null].map(keeps)],
  },
  {
    title: 'const',
    schema: { type: 'object', properties: { it: { const: 'Order' } } },
    cases: [converts('order', 'Order')],
  },
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

const text = { type: 'string' }

const rename = (from: string, to: string) => `renamed /${from} -> /${to}`

export const nameCases: Group[] = [
  {
    title: 'case and separators',
    schema: { artistName: text, line2: optional('string'), Größe: optional('string') },
    cases: [
      [{ artistName: 'x', 'line-2': 'y' }, { artistName: 'x', line2: 'y' }, [rename('line-2', 'line2')]],
      unchanged({ 'artist-name': 'x', artist_name: 'y' }),
    ],
  },
  {
    title: 'digits',
    schema: { line12: optional('string'), part_1_2: optional('string') },
    cases: [unchanged({ line_1_2: 'x' }), unchanged({ part12: 'x' })],
  },
  {
    title: 'two fields with the unchanged normalized name',
    schema: { 'artist-name': optional('string'), artistName: optional('string') },
    cases: [unchanged({ ARTIST_NAME: 'x' }), unchanged({ artistName: 'x', ARTIST_NAME: 'y' })],
  },
  {
    title: 'names that consist of separators',
    schema: { _: optional('string'), '': optional('string'), many: optional('string') },
    cases: [unchanged({ '-': 'x' })],
  },
  {
    title: 'singular and plural',
    schema: {
      tags: optional('array', { items: text }),
      category: optional('string'),
      boxes: optional('array', { items: text }),
      id: optional('string'),
      address: optional('string'),
    },
    cases: [
      [{ tag: 'x' }, { tags: ['x'] }, [rename('tag', 'tags'), 'converted /tags from string']],
      [{ box: ['x'] }, { boxes: ['x'] }, [rename('box', 'boxes')]],
    ],
  },
  {
    title: 'typos',
    schema: {
      name: optional('string'),
      artistName: optional('string'),
      organisation: optional('string'),
      length: optional('integer'),
      minPrice: optional('number'),
      gender: optional('string'),
      excluded: optional('boolean'),
      line1: optional('string'),
      map: optional('string'),
    },
    cases: [
      [{ artisttName: 'x' }, { artistName: 'x' }, [rename('artisttName', 'artistName')]],
      [{ artist_nme: 'x' }, { artistName: 'x' }, [rename('artist_nme', 'artistName')]],
      unchanged({ mapp: 'x' }),
      unchanged({ nmae: 'x' }),
    ],
  },
  {
    title: 'envelopes',
    schema: { artistName: text, limit: { type: 'integer', default: 5 } },
    cases: [
      [{ data: { input: { limit: 1 } } }, { limit: 1 }, ['unwrapped /data/input -> ']],
      [{ data: { limit: 1, extra: 2 } }, { limit: 1, extra: 2 }, ['unwrapped /data -> ']],
      [{ input: { other: 1 } }, { input: { other: 1 }, limit: 5 }, ['defaulted /limit']],
      [{ input: 'x' }, { input: 'x', limit: 5 }, ['defaulted /limit']],
      [{ input: [{ limit: 1 }] }, { limit: 1 }, ['unwrapped /input/0 -> ']],
    ],
  },
  {
    title: 'a field with the name of an envelope',
    schema: { data: { type: 'object', properties: { date: text } }, date: optional('string') },
    cases: [[{ Data: { date: 'x' } }, { data: { date: 'x' } }, [rename('Data', 'data')]]],
  },
]
