import {
  boolean,
  type CaseGroup,
  integer,
  listOf,
  number,
  objectOf,
  optional,
  text,
  textOf,
} from './case-group.ts'

type Value = string | number | boolean | null | object

/** Cases of a schema whose only field is `it`. */
function valuesOf(
  title: string,
  field: object,
  { adapted, left = [] }: { adapted: [sent: Value, effective: Value][]; left?: Value[] },
): CaseGroup {
  return {
    title,
    schema: { it: field } as never,
    adapted: adapted.map(([sent, effective]) => [{ it: sent }, { it: effective }]) as never,
    left: left.map((sent) => ({ it: sent })) as never,
  }
}

export const values: CaseGroup[] = [
  valuesOf('integers', integer, {
    adapted: [
      [' 42 ', 42],
      ['1,200', 1200],
      ['1.234.567', 1234567],
      ['3,00', 3],
      [['42'], 42],
    ],
    left: ['3.5', '1.200', [1, 2]],
  }),
  valuesOf('numbers', number, {
    adapted: [
      ['1 234,56', 1234.56],
      ['1 234,56', 1234.56],
      ['1.234,56', 1234.56],
      ['12,5', 12.5],
      [' 3.5', 3.5],
    ],
    left: ['1,200', [3, 4]],
  }),
  valuesOf(
    'numbers within limits',
    { type: 'integer', enum: [1, 5, 10] },
    {
      adapted: [
        [['10'], 10],
        [{ value: 5, label: 'Five' }, 5],
      ],
    },
  ),
  valuesOf('booleans', boolean, {
    adapted: [
      ['1', true],
      [' yes ', true],
    ],
  }),
  valuesOf('dates', textOf({ format: 'date' }), {
    adapted: [
      ['2024-03-05T00:00:00Z', '2024-03-05'],
      ['2024-03-05T00:00:00.000Z', '2024-03-05'],
    ],
    left: ['2024-03-05T14:30:00Z', '2024-03-05T00:00:00+02:00', 'Wednesday, 5 March 2024'],
  }),
  valuesOf('dates with times', textOf({ format: 'date-time' }), {
    adapted: [['Tue, 05 Mar 2024 14:30:00 GMT', '2024-03-05T14:30:00Z']],
    left: ['Mon, 05 Mar 2024 14:30:00 GMT'],
  }),
  valuesOf(
    'texts with a format or pattern',
    { type: 'string', format: 'email' },
    {
      adapted: [
        [' a@x.org ', 'a@x.org'],
        ['a@x.org\n', 'a@x.org'],
      ],
    },
  ),
  valuesOf('texts without a format', text, { adapted: [[3, '3']] }),
  valuesOf('choices', textOf({ enum: ['in_progress', 'done', 'Not Started', 'n/a'] }), {
    adapted: [
      ['In Progress', 'in_progress'],
      [' done', 'done'],
      [{ label: 'Done!', value: 'DONE' }, 'done'],
    ],
  }),
  valuesOf('lists of texts', listOf(text), {
    adapted: [
      ['["a", "b"]', ['a', 'b']],
      ['```json\n["a"]\n```', ['a']],
    ],
    left: ['', true, false],
  }),
  valuesOf('lists of choices and formats', listOf(textOf({ enum: ['vip', 'eu', 'new'] })), {
    adapted: [['VIP|EU', ['vip', 'eu']]],
    left: ['vip, us'],
  }),
  valuesOf('lists of addresses', listOf(textOf({ format: 'email' })), {
    adapted: [
      ['a@x.org;b@x.org', ['a@x.org', 'b@x.org']],
      ['a@x.org, b@x.org', ['a@x.org', 'b@x.org']],
    ],
    left: ['Ada <a@x.org>, b@x.org'],
  }),
  valuesOf('lists of integers', listOf(integer), { adapted: [['1,2,3', [1, 2, 3]]] }),
  valuesOf('lists of objects', listOf(objectOf({ sku: text, qty: optional(integer) })), {
    adapted: [
      [{ SKU: 'a', Qty: '2' }, [{ sku: 'a', qty: 2 }]],
      ['{"sku": "a"}', [{ sku: 'a' }]],
    ],
    left: [{ qty: 2 }, { '0': { sku: 'a' } }, 3],
  }),
  valuesOf('objects', objectOf({ city: text, zip: optional(text) }), {
    adapted: [
      ['```json\n{"city": "Bonn"}\n```', { city: 'Bonn' }],
      ['```\n{"city": "Bonn"}\n```', { city: 'Bonn' }],
      ['"{\\"city\\": \\"Bonn\\"}"', { city: 'Bonn' }],
    ],
    left: ['{"city": 12345678901234567890}'],
  }),
  {
    title: 'optional fields without a value',
    schema: {
      name: text,
      age: optional(integer),
      born: optional(textOf({ format: 'date' })),
      size: optional(textOf({ enum: ['s', 'm'] })),
      note: optional(text),
      tags: optional(listOf(text)),
      any: { type: 'string', required: false, minLength: 1 },
    } as never,
    adapted: [[{ name: 'x', age: '' }, { name: 'x' }]],
  },
]
