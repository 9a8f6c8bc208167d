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

const longNumber = '0.1000000000000000055511151231257827'

export const valueCases: Group[] = [
  {
    title: 'integers',
    schema: it({ type: 'integer' }),
    cases: [
      converts('3', 3),
      converts('-12', -12),
      converts('0', 0),
      converts('3.0', 3),
      converts('1e3', 1000),
      converts('120e-1', 12),
      converts(' 3', 3),
      converts('1,000', 1000),
      converts('9007199254740991', 9007199254740991),
      ...['3.5', '007', '+3', '', '0x10', '1_000', '1e999', '-0', 'three', 'Infinity'].map(keeps),
      ...['9007199254740992', '9007199254740993', '123456789012345678901234567890', '2026-01-31'].map(keeps),
      ...[3.5, true, null, {}, [3, 4], [null]].map(keeps),
    ],
  },
  {
    title: 'numbers',
    schema: it({ type: 'number' }),
    cases: [
      converts('3.5', 3.5),
      converts('-0.25', -0.25),
      converts('1.50', 1.5),
      converts('1E2', 100),
      converts('2.5e-3', 0.0025),
      ...['.5', '5.', longNumber, '1e-999', '1e21', 'NaN', '1.2.3', '12:30', false].map(keeps),
    ],
  },
  {
    title: 'booleans',
    schema: it({ type: 'boolean' }),
    cases: [
      converts('true', true),
      converts('FALSE', false),
      converts('True', true),
      converts('yes', true),
      converts('1', true),
      converts(0, false),
      ...['', 'tru', 2, null, [true, false]].map(keeps),
    ],
  },
  {
    title: 'strings',
    schema: it({ type: 'string' }),
    cases: [
      converts(3, '3'),
      converts(0.1, '0.1'),
      converts(1e21, '1e+21'),
      converts(true, 'true'),
      converts(false, 'false'),
      ...['', '3', '2026-01-31', '2026-01-31T12:00:00Z', null, { a: 1 }, ['x', 'y']].map(keeps),
      [{ it: ['x'] }, { it: 'x' }, ['converted /it from array']],
    ],
  },
  {
    title: 'objects',
    schema: it({ type: 'object', properties: { n: optional('integer') } }),
    cases: [
      converts('{"n": 3}', { n: 3 }),
      converts(' {"n": 3} ', { n: 3 }),
      converts('{}', {}),
      [
        { it: '{"N": "3"}' },
        { it: { n: 3 } },
        ['converted /it from string', 'renamed /it/N -> /it/n', 'converted /it/n from string'],
      ],
      converts('{"x": "a\\"b{"}', { x: 'a"b{' }),
      ...[
        '{"n": 3',
        '{"n": 3} x',
        '[{"n": 3}]',
        '3',
        'null',
        '{"n": 1, "n": 2}',
        '{"n": 9007199254740993}',
      ].map(keeps),
      ...[`{"x": ${longNumber}}`, '{"x": 1e999}', [{ n: 3 }, {}], null, 3].map(keeps),
      [
        { it: [{ N: '3' }] },
        { it: { n: 3 } },
        ['converted /it from array', 'renamed /it/0/N -> /it/n', 'converted /it/n from string'],
      ],
      [{ it: { N: 3 } }, { it: { n: 3 } }, ['renamed /it/N -> /it/n']],
      [{ it: { n: '3' } }, { it: { n: 3 } }, ['converted /it/n from string']],
      [{ it: { input: { n: 3 } } }, { it: { n: 3 } }, ['unwrapped /it/input -> /it']],
    ],
  },
  {
    title: 'arrays of integers',
    schema: it({ type: 'array', items: { type: 'integer' } }),
    cases: [
      keeps([1, 2]),
      keeps([]),
      converts(3, [3]),
      [{ it: '3' }, { it: [3] }, ['converted /it from string', 'converted /it/0 from string']],
      converts('[1, 2]', [1, 2]),
      [{ it: '["1", 2]' }, { it: [1, 2] }, ['converted /it from string', 'converted /it/0 from string']],
      [{ it: [1, '2', 'x'] }, { it: [1, 2, 'x'] }, ['converted /it/1 from string']],
      converts('1, 2', [1, 2]),
      ...['x', '[1, 2', true, null, { n: 1 }, 1.5].map(keeps),
    ],
  },
  {
    title: 'arrays of strings',
    schema: it({ type: 'array', items: { type: 'string' } }),
    cases: [
      converts('x', ['x']),
      converts('["a", "b"]', ['a', 'b']),
      [{ it: 3 }, { it: ['3'] }, ['converted /it from number', 'converted /it/0 from number']],
      ...['a, b', '[not a list', ['x'], [null], [['x', 'y']], null, { a: 1 }].map(keeps),
    ],
  },
  {
    title: 'arrays of choices',
    schema: it({ type: 'array', items: { enum: ['red', 'blue', ''] } }),
    cases: [
      converts('red, blue', ['red', 'blue']),
      converts('red||blue', ['red', '', 'blue']),
      // Separators alone name nothing.
      ...[',', '|', ' ; ', 'red, green'].map(keeps),
    ],
  },
  {
    title: 'arrays of objects',
    schema: it({
      type: 'array',
      items: { type: 'object', properties: { n: { type: 'integer', default: 1 } } },
    }),
    cases: [
      converts({ n: 3 }, [{ n: 3 }]),
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
      [{ it: [1] }, { it: [[1]] }, ['converted /it/0 from number']],
      unchanged({ it: 1 }),
      [{ any: 'x' }, { any: ['x'] }, ['converted /any from string']],
      [{ any: { a: 1 } }, { any: [{ a: 1 }] }, ['converted /any from object']],
      [{ any: null }, {}, ['removed /any -> /any']],
    ],
  },
  {
    title: 'enum',
    schema: {
      it: optional('string', { enum: ['small', 'medium-size', 'Extra Large', '-1', '1', 'v1.5'] }),
    },
    cases: [
      keeps('small'),
      converts('Small', 'small'),
      converts(' SMALL\n', 'small'),
      converts('medium size', 'medium-size'),
      converts('MediumSize', 'medium-size'),
      converts('medium_size', 'medium-size'),
      converts('extra-large', 'Extra Large'),
      converts(1, '1'),
      converts(-1, '-1'),
      [{ it: '' }, {}, ['removed /it -> /it']],
      [{ it: null }, {}, ['removed /it -> /it']],
      [{ it: ['small'] }, { it: 'small' }, ['converted /it from array']],
      ...['smal', 'smalls', 'large', '- 1', 'v15', 'v1-5', ['small', 'small'], { small: true }, true].map(
        keeps,
      ),
    ],
  },
  {
    title: 'enum with several matches',
    schema: it({ type: 'string', enum: ['AB', 'ab', 'a-c', 'a c'] }),
    cases: [...['Ab', 'aB', ' ab', 'ac', 'A_C'].map(keeps), converts('A-C', 'a-c'), converts('A C', 'a c')],
  },
  {
    title: 'enum with numbers, booleans and strings',
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: { it: { enum: [1, 2.5, 'x', true, '2', 2, null] } },
    },
    cases: [
      converts('1', 1),
      converts('2.50', 2.5),
      converts('TRUE', true),
      converts('X', 'x'),
      ...['2', 2, 1, null, '3', 'null', ' 1', false, 'false'].map(keeps),
    ],
  },
  {
    title: 'const',
    schema: { type: 'object', properties: { it: { const: 'Order' } } },
    cases: [converts('order', 'Order'), keeps('Order'), keeps('orders')],
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
        {},
        { limit: 5, mode: 'fast', paging: { size: 10 } },
        ['defaulted /limit', 'defaulted /mode', 'defaulted /paging'],
      ],
      [
        { limit: 1, mode: 'slow', page: {}, paging: { size: 1 } },
        { limit: 1, mode: 'slow', page: { size: 10 }, paging: { size: 1 } },
        ['defaulted /page/size'],
      ],
      [
        { limit: null, mode: 'slow', paging: { size: 1 } },
        { mode: 'slow', paging: { size: 1 }, limit: 5 },
        ['removed /limit -> /limit', 'defaulted /limit'],
      ],
      [
        { limit: 0, mode: '', paging: { size: 0 } },
        { limit: 0, paging: { size: 0 }, mode: 'fast' },
        ['removed /mode -> /mode', 'defaulted /mode'],
      ],
      [
        { LIMIT: '7', mode: 'FAST', paging: { size: 1 } },
        { limit: 7, mode: 'fast', paging: { size: 1 } },
        ['renamed /LIMIT -> /limit', 'converted /limit from string', 'converted /mode from string'],
      ],
      [
        { Limit: 1, LIMIT: 2, mode: 'slow', paging: { size: 1 } },
        { Limit: 1, LIMIT: 2, mode: 'slow', paging: { size: 1 }, limit: 5 },
        ['defaulted /limit'],
      ],
    ],
  },
]
