import type { Json, JsonObject } from '../../../lib/core/json.ts'
import { type Case, type Group, optional, same } from './adapt-case.ts'

const TYPES: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
}

/** A value of the field `it` and what becomes of it. */
const becomes = (sent: Json, effective: Json): Case => [
  { it: sent },
  { it: effective },
  [`converted /it from ${TYPES[typeof sent]}`],
]

const stays = (sent: Json): Case => same({ it: sent })

const it = (field: JsonObject): JsonObject => ({ it: field })

const longNumber = '0.1000000000000000055511151231257827'

export const valueCases: Group[] = [
  {
    title: 'whole numbers',
    schema: it({ type: 'integer' }),
    cases: [
      becomes('3', 3),
      becomes('-12', -12),
      becomes('0', 0),
      becomes('3.0', 3),
      becomes('1e3', 1000),
      becomes('120e-1', 12),
      becomes('9007199254740991', 9007199254740991),
      ...[
        '3.5',
        '007',
        '+3',
        ' 3',
        '3 ',
        '',
        '0x10',
        '1_000',
        '1,000',
        '1e999',
        '-0',
        'three',
        'Infinity',
      ].map(stays),
      ...['9007199254740992', '9007199254740993', '123456789012345678901234567890', '2026-01-31'].map(stays),
      ...[3.5, true, null, {}, [3], ['3']].map(stays),
    ],
  },
  {
    title: 'numbers',
    schema: it({ type: 'number' }),
    cases: [
      becomes('3.5', 3.5),
      becomes('-0.25', -0.25),
      becomes('1.50', 1.5),
      becomes('1E2', 100),
      becomes('2.5e-3', 0.0025),
      ...['.5', '5.', longNumber, '1e-999', '1e21', 'NaN', '1.2.3', '12:30', false].map(stays),
    ],
  },
  {
    title: 'true and false',
    schema: it({ type: 'boolean' }),
    cases: [
      becomes('true', true),
      becomes('FALSE', false),
      becomes('True', true),
      ...['yes', '1', '', ' true', 'tru', 1, 0, null, [true]].map(stays),
    ],
  },
  {
    title: 'texts',
    schema: it({ type: 'string' }),
    cases: [
      becomes(3, '3'),
      becomes(0.1, '0.1'),
      becomes(1e21, '1e+21'),
      becomes(true, 'true'),
      becomes(false, 'false'),
      ...['', '3', '2026-01-31', '2026-01-31T12:00:00Z', null, { a: 1 }, ['x']].map(stays),
    ],
  },
  {
    title: 'objects',
    schema: it({ type: 'object', properties: { n: optional('integer') } }),
    cases: [
      becomes('{"n": 3}', { n: 3 }),
      becomes(' {"n": 3} ', { n: 3 }),
      becomes('{}', {}),
      [
        { it: '{"N": "3"}' },
        { it: { n: 3 } },
        ['converted /it from a text', 'renamed /it/N -> /it/n', 'converted /it/n from a text'],
      ],
      becomes('{"x": "a\\"b{"}', { x: 'a"b{' }),
      ...[
        '{"n": 3',
        '{"n": 3} x',
        '[{"n": 3}]',
        '3',
        'null',
        '{"n": 1, "n": 2}',
        '{"n": 9007199254740993}',
      ].map(stays),
      ...[`{"x": ${longNumber}}`, '{"x": 1e999}', [{ n: 3 }], null, 3].map(stays),
      [{ it: { N: 3 } }, { it: { n: 3 } }, ['renamed /it/N -> /it/n']],
      [{ it: { n: '3' } }, { it: { n: 3 } }, ['converted /it/n from a text']],
      [{ it: { input: { n: 3 } } }, { it: { n: 3 } }, ['unwrapped /it/input -> /it']],
    ],
  },
  {
    title: 'lists of whole numbers',
    schema: it({ type: 'array', items: { type: 'integer' } }),
    cases: [
      stays([1, 2]),
      stays([]),
      becomes(3, [3]),
      [{ it: '3' }, { it: [3] }, ['converted /it from a text', 'converted /it/0 from a text']],
      becomes('[1, 2]', [1, 2]),
      [{ it: '["1", 2]' }, { it: [1, 2] }, ['converted /it from a text', 'converted /it/0 from a text']],
      [{ it: [1, '2', 'x'] }, { it: [1, 2, 'x'] }, ['converted /it/1 from a text']],
      ...['1, 2', 'x', '[1, 2', true, null, { n: 1 }, 1.5].map(stays),
    ],
  },
  {
    title: 'lists of texts',
    schema: it({ type: 'array', items: { type: 'string' } }),
    cases: [
      becomes('x', ['x']),
      becomes('a, b', ['a, b']),
      becomes('[not a list', ['[not a list']),
      becomes('["a", "b"]', ['a', 'b']),
      [{ it: 3 }, { it: ['3'] }, ['converted /it from a number', 'converted /it/0 from a number']],
      ...[['x'], [null], [['x']], null, { a: 1 }].map(stays),
    ],
  },
  {
    title: 'lists of objects',
    schema: it({
      type: 'array',
      items: { type: 'object', properties: { n: { type: 'integer', default: 1 } } },
    }),
    cases: [
      becomes({ n: 3 }, [{ n: 3 }]),
      [
        { it: [{ N: 3 }, {}] },
        { it: [{ n: 3 }, { n: 1 }] },
        ['renamed /it/0/N -> /it/0/n', 'defaulted /it/1/n'],
      ],
      [
        { it: { N: '3' } },
        { it: [{ n: 3 }] },
        ['converted /it from an object', 'renamed /it/N -> /it/0/n', 'converted /it/0/n from a text'],
      ],
      [{ it: '{"n": 3}' }, { it: [{ n: 3 }] }, ['converted /it from a text', 'converted /it/0 from a text']],
    ],
  },
  {
    title: 'lists of lists and of anything',
    schema: {
      it: optional('array', { items: { type: 'array', items: { type: 'integer' } } }),
      any: optional('array'),
    },
    cases: [
      [{ it: [1] }, { it: [[1]] }, ['converted /it/0 from a number']],
      same({ it: 1 }),
      [{ any: 'x' }, { any: ['x'] }, ['converted /any from a text']],
      [{ any: { a: 1 } }, { any: [{ a: 1 }] }, ['converted /any from an object']],
      same({ any: null }),
    ],
  },
  {
    title: 'choices',
    schema: {
      it: optional('string', { enum: ['small', 'medium-size', 'Extra Large', '-1', '1', 'v1.5'] }),
    },
    cases: [
      stays('small'),
      becomes('Small', 'small'),
      becomes(' SMALL\n', 'small'),
      becomes('medium size', 'medium-size'),
      becomes('MediumSize', 'medium-size'),
      becomes('medium_size', 'medium-size'),
      becomes('extra-large', 'Extra Large'),
      becomes(1, '1'),
      becomes(-1, '-1'),
      ...['smal', 'smalls', 'large', '- 1', 'v15', 'v1-5', '', null, ['small'], { small: true }, true].map(
        stays,
      ),
    ],
  },
  {
    title: 'choices of which several match',
    schema: it({ type: 'string', enum: ['AB', 'ab', 'a-c', 'a c'] }),
    cases: [...['Ab', 'aB', ' ab', 'ac', 'A_C'].map(stays), becomes('A-C', 'a-c'), becomes('A C', 'a c')],
  },
  {
    title: 'choices of numbers, booleans and texts',
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: { it: { enum: [1, 2.5, 'x', true, '2', 2, null] } },
    },
    cases: [
      becomes('1', 1),
      becomes('2.50', 2.5),
      becomes('TRUE', true),
      becomes('X', 'x'),
      ...['2', 2, 1, null, '3', 'null', ' 1', false, 'false'].map(stays),
    ],
  },
  {
    title: 'constants',
    schema: { type: 'object', properties: { it: { const: 'Order' } } },
    cases: [becomes('order', 'Order'), stays('Order'), stays('orders')],
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
      same({ limit: null, mode: 'slow', paging: { size: 1 } }),
      same({ limit: 0, mode: '', paging: { size: 0 } }),
      [
        { LIMIT: '7', mode: 'FAST', paging: { size: 1 } },
        { limit: 7, mode: 'fast', paging: { size: 1 } },
        ['renamed /LIMIT -> /limit', 'converted /limit from a text', 'converted /mode from a text'],
      ],
      [
        { Limit: 1, LIMIT: 2, mode: 'slow', paging: { size: 1 } },
        { Limit: 1, LIMIT: 2, mode: 'slow', paging: { size: 1 }, limit: 5 },
        ['defaulted /limit'],
      ],
    ],
  },
]
